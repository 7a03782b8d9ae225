import fastify from 'fastify';

const app = fastify();
app.get('/articles/:slug', (request, reply) =>
  reply.type('text/html').send(`<h1>${encodeURIComponent(request.params.slug)}</h1>`),
);
app.listen({ port: Number(process.env.PORT ?? 8080), host: '127.0.0.1' });
