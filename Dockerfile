# Two images: `service` (API, worker, migrations, bin/admin: the command decides) and `temporal` (the server, built as
# `npm run cluster` builds it, with the tool that sets up its schema). docker-compose.yml builds both.
# `node deploy/image/pin.mjs` writes the digest behind each tag, here and in docker-compose.yml.
ARG NODE_IMAGE=node:24.21-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
# glibc, libstdc++ and CA certificates: no shell, no package manager.
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian12:latest@sha256:e5d81ddde149641e2a9ba55be4545bc125c67de07508b03ba4c22e6eb0ded5aa
ARG GO_IMAGE=golang:1.25-bookworm@sha256:3b4a11519ad929d1e1d261a12cff056f0c85b735253d7d861346b9c6f8b36437
ARG DEBIAN_IMAGE=debian:bookworm-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY deploy/image/prune.mjs ./deploy/image/
# Where a native package has no prebuilt binary (linux-arm64) it is compiled; nothing starts without one.
# The publisher's package is no part of the service.
RUN npm ci --omit=dev --omit=peer --workspaces=false --no-audit --no-fund \
  && { node -e "require('keccak/bindings.js'); require('secp256k1/bindings.js')" \
    || { apt-get update && apt-get install --yes --no-install-recommends python3 make g++ && npm rebuild keccak secp256k1; }; } \
  && npm pkg delete devDependencies peerDependencies workspaces && npm sbom --omit=dev --sbom-format=cyclonedx > sbom.cdx.json
COPY modules ./modules
COPY workflows ./workflows
COPY bin/bundleWorkflows.ts ./bin/
COPY process/workflowBundle.ts ./process/
# A worker finds its workflows bundled, below node_modules.
RUN node bin/bundleWorkflows.ts && node deploy/image/prune.mjs node_modules

FROM ${RUNTIME_IMAGE} AS service
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8402 METRICS_HOST=0.0.0.0 METRICS_PORT=9464
WORKDIR /app
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=packages /app/node_modules ./node_modules
# What is in it, package by package (CycloneDX).
COPY --from=packages /app/sbom.cdx.json ./sbom.cdx.json
COPY . .
USER 1000:1000
EXPOSE 8402 9464
# Alive, not ready: load balancers ask /readyz. The worker serves nothing but its metrics.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT}/metrics`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT []
CMD ["node", "bin/api.ts"]

FROM ${GO_IMAGE} AS temporal-build
ARG TEMPORAL_VERSION=1.29.1
RUN CGO_ENABLED=0 go install "go.temporal.io/server/cmd/server@v${TEMPORAL_VERSION}" \
  && CGO_ENABLED=0 go install "go.temporal.io/server/cmd/tools/sql@v${TEMPORAL_VERSION}"

FROM ${DEBIAN_IMAGE} AS temporal
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates netcat-openbsd \
  && rm -rf /var/lib/apt/lists/* && useradd --system --no-create-home temporal
COPY --from=temporal-build /go/bin/server /usr/local/bin/temporal-server
COPY --from=temporal-build /go/bin/sql /usr/local/bin/temporal-sql-tool
COPY deploy/temporal /etc/temporal
USER temporal
EXPOSE 7233
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=5 CMD ["nc", "-z", "127.0.0.1", "7233"]
CMD ["sh", "/etc/temporal/start.sh"]
