import { Hono } from 'hono';

const app = new Hono();
app.get('/articles/:slug', (c) => c.html(`<h1>${encodeURIComponent(c.req.param('slug'))}</h1>`));
export default app;
