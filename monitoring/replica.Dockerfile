# One replica of the Express example, built from this repository. Context: its root.
FROM node:20.19.5-bookworm-slim AS build
WORKDIR /repository
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml tsconfig.base.json ./
COPY packages ./packages
COPY apps ./apps
RUN npm install --global "$(node -p 'require("./package.json").packageManager')" \
 && pnpm install --frozen-lockfile --filter '@rl/express-example...' \
 && pnpm --filter '@rl/express-example...' run build \
 && pnpm --filter @rl/express-example deploy --prod --legacy /replica

FROM node:20.19.5-bookworm-slim
ENV NODE_ENV=production PORT=3000 OPERATIONS_PORT=9464 OPERATIONS_HOST=0.0.0.0
WORKDIR /replica
COPY --from=build /replica ./
USER node
EXPOSE 3000 9464
CMD ["node", "dist/server.mjs"]
