# One image for each service: docker build --build-arg SERVICE=gateway -t vision/gateway .
FROM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.base.json ./
COPY packages packages
COPY services services
# Not `npm ci`: it refuses a lock file from which optional packages of other platforms are missing.
RUN npm install --no-save --ignore-scripts && npx tsc -b

# Only what this service runs on: its own dependencies and those of the operator's command line.
FROM node:24-trixie-slim AS assemble
ARG SERVICE
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY --from=build /app/packages packages
COPY --from=build /app/services/${SERVICE} services/${SERVICE}
RUN npm install --no-save --ignore-scripts --omit=dev --workspace services/${SERVICE} --workspace packages/visionctl \
  && find packages services -path '*/node_modules' -prune -o -type d \( -name src -o -name test -o -name tools \) -print \
    | xargs rm -rf
COPY config config
COPY docs/openapi docs/openapi

# Debian 13: its setpriv puts decoders behind a wall where namespaces are forbidden (docs/adr/0036).
FROM node:24-trixie-slim
ARG SERVICE
RUN if [ "${SERVICE}" = inference ]; then \
    apt-get update && apt-get install -y --no-install-recommends ffmpeg bubblewrap && rm -rf /var/lib/apt/lists/*; \
  fi
COPY --from=assemble /app /app
WORKDIR /app/services/${SERVICE}
# Few malloc arenas and a small young generation: memory that was used once is used again instead of being kept.
ENV NODE_ENV=production ORT_DISABLE_TELEMETRY=1 MALLOC_ARENA_MAX=2 SCENES_FILE=/app/config/scenes.json NODE_OPTIONS=--max-semi-space-size=8
USER 10001:10001
EXPOSE 8080 9090
# Migrate with: node dist/main.js migrate
CMD ["node", "--import", "./dist/telemetry.js", "dist/main.js"]
