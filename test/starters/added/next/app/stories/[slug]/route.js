import { contentSettlement } from '@content-settlement/publisher/next';

export const GET = contentSettlement().route(async (request) => {
  const slug = new URL(request.url).pathname.split('/').at(-1);
  return new Response(`<h1>${slug}</h1>`, { headers: { 'content-type': 'text/html' } });
});
