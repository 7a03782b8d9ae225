import express from 'express';

const app = express();
app.get('/articles/:slug', (request, response) => response.send(`<h1>${encodeURIComponent(request.params.slug)}</h1>`));
app.listen(Number(process.env.PORT ?? 8080));
