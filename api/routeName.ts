/** What is said of a call to a path that no route has. */
export const NO_ROUTE = 'none';

/**
 * The route that a path belongs to, as it is written (`/_svc/licenses/:jti/access`), and `none` for every other path: few values,
 * whatever callers ask for, and nothing that a caller wrote.
 */
export function createRouteNames(routes: readonly string[]): (path: string) => string {
  const exact = new Set(routes.filter((route) => !route.includes(':')));
  const patterns = routes.flatMap((route) => {
    const source = route.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+');
    return exact.has(route) ? [] : [{ route, pattern: new RegExp(`^${source}$`) }];
  });
  return (path) => (exact.has(path) ? path : (patterns.find(({ pattern }) => pattern.test(path))?.route ?? NO_ROUTE));
}
