# The images of all seven services: docker build --target gateway -t vision/gateway . ("make images" builds all of them).
# Any Debian 13 with Node.js 24 and npm: its setpriv puts decoders behind a wall where namespaces are forbidden
# (docs/adr/0036).
ARG BASE=node:24-trixie-slim

# Everything is installed and compiled once; what each service runs on is picked from it.
FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/
COPY packages/contracts/package.json packages/contracts/
COPY packages/creation/package.json packages/creation/
COPY packages/kafka/package.json packages/kafka/
COPY packages/objects/package.json packages/objects/
COPY packages/shared/package.json packages/shared/
COPY packages/streams/package.json packages/streams/
COPY packages/visionctl/package.json packages/visionctl/
COPY services/gateway/package.json services/gateway/
COPY services/images/package.json services/images/
COPY services/inference/package.json services/inference/
COPY services/notify/package.json services/notify/
COPY services/quota/package.json services/quota/
COPY services/results/package.json services/results/
COPY services/tasks/package.json services/tasks/
# Not `npm ci`: it refuses a lock file from which optional packages of other platforms are missing. The registry's
# settings and its certificates, where it needs any, come as secrets, so that none of them stays in an image.
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=ca \
  if [ -s /run/secrets/ca ]; then export npm_config_cafile=/run/secrets/ca; fi; \
  npm install --no-save --ignore-scripts && rm -rf /root/.npm/_cacache
COPY tsconfig.json tsconfig.base.json ./
COPY packages packages
COPY services services
RUN npx tsc -b && node --conditions=@vision/source packages/console/build/main.ts
COPY config config
COPY docs/openapi docs/openapi
COPY deploy/images deploy/images
# The commit, which vision_build_info shows.
ARG REVISION=none
RUN node deploy/images/assemble.ts /out && echo "$REVISION" > /out/common/app/commit.txt

FROM ${BASE} AS runtime
RUN groupadd --gid 10001 vision \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin vision \
  && ln -s /app/packages/visionctl/bin/visionctl /usr/local/bin/visionctl
# Few malloc arenas and a small young generation: memory that was used once is used again instead of being kept.
ENV NODE_ENV=production HOME=/tmp ORT_DISABLE_TELEMETRY=1 MALLOC_ARENA_MAX=2 SCENES_FILE=/app/config/scenes.json \
  NODE_OPTIONS=--max-semi-space-size=8
LABEL org.opencontainers.image.title="Vision recognition service" org.opencontainers.image.licenses=Apache-2.0
USER 10001:10001
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "/app/healthcheck.ts"]
# Migrate with: node dist/main.js migrate
CMD ["node", "--import", "./dist/telemetry.js", "dist/main.js"]

FROM runtime AS decoders
USER 0
# Debian's ffmpeg brings drivers of graphics cards, 200 MB that are only loaded to draw on one.
RUN apt-get update && apt-get install -y --no-install-recommends ffmpeg bubblewrap \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* \
    /usr/lib/*/libLLVM.so.* /usr/lib/*/libgallium-*.so /usr/lib/*/libz3.so.* \
  && ffmpeg -hide_banner -version && ffprobe -hide_banner -version
USER 10001:10001

FROM runtime AS gateway
COPY --from=build /out/common /
COPY --from=build /out/gateway /
WORKDIR /app/services/gateway
EXPOSE 8081

FROM runtime AS tasks
COPY --from=build /out/common /
COPY --from=build /out/tasks /
WORKDIR /app/services/tasks

FROM runtime AS images
COPY --from=build /out/common /
COPY --from=build /out/images /
WORKDIR /app/services/images

FROM runtime AS results
COPY --from=build /out/common /
COPY --from=build /out/results /
WORKDIR /app/services/results

FROM runtime AS quota
COPY --from=build /out/common /
COPY --from=build /out/quota /
WORKDIR /app/services/quota

FROM runtime AS notify
COPY --from=build /out/common /
COPY --from=build /out/notify /
WORKDIR /app/services/notify

FROM decoders AS inference
COPY --from=build /out/common /
COPY --from=build /out/inference /
WORKDIR /app/services/inference
# Without a wall around its decoders this image decodes nothing (docs/adr/0036).
ENV SANDBOX=require
