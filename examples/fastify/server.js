import { contentSettlement } from '@content-settlement/publisher/fastify';
import fastify from 'fastify';

const app = fastify();
app.register(contentSettlement());
app.get('/articles/:slug', (request, reply) =>
  reply.type('text/html').send(`<h1>${encodeURIComponent(request.params.slug)}</h1>`),
);
app.listen({ port: Number(process.env.PORT ?? 8080), host: '127.0.0.1' });
