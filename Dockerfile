# The control plane as a container image: docker build -t edgewright:0.1.0 .
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci && npm run build && node tools/make-image-root.mjs /image

FROM node:20.20.2-bookworm-slim
ENV NODE_ENV=production
COPY --from=build /image /opt/edgewright
RUN ln -s /opt/edgewright/dist/host/cli/main.js /usr/local/bin/edgewright
# Nobody's: it writes no file, and needs no right of the machine that it runs on.
USER 1000:1000
WORKDIR /tmp
ENTRYPOINT ["node", "/opt/edgewright/dist/host/cli/main.js"]
CMD ["help"]
