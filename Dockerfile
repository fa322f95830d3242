# One static program and what it can not do without: certificates, and an owner that is not root. It writes nowhere but under
# /data, and only where the ledger is SQLite: give that a volume, and all else may be read-only.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.released=${VERSION}" -o /out/waitroom ./cmd/waitroom \
    && mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /out/data /data
COPY --from=build /out/waitroom /waitroom
USER 65532:65532
ENV WAITROOM_LOG_FORMAT=json
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=4s --start-period=10s --retries=3 CMD ["/waitroom", "healthcheck"]
ENTRYPOINT ["/waitroom"]
