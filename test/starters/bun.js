/** Runs a site of this folder on Bun: bun bun.js <entry>; listens on PORT. Bun cuts what is silent for ten seconds, and a payment may take 25. */
const { default: site } = await import(`./${process.argv[2]}`);
Bun.serve({ hostname: '127.0.0.1', port: Number(process.env.PORT), fetch: site.fetch, idleTimeout: 40 });
