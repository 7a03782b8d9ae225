/** True of a filter that is set. */
export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

/** True when all of a tenant is meant: no filter of the scope is set. */
export function isWholeTenant({ tenantId: _tenant, ...filters }: { readonly tenantId: string }): boolean {
  return !Object.values(filters).some(isGiven);
}
