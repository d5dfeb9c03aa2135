// Connects to signalbox from Node.js: clients are made from proto/ when the process starts, without
// generated code.

import { credentials, loadPackageDefinition, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { fileURLToPath } from "node:url";

const PROTO = fileURLToPath(new URL("../../proto", import.meta.url));
const FILES = ["catalog", "journal", "knowledge", "loop", "route", "system"].map(
  (name) => `signalbox/v1/${name}_service.proto`,
);

const definition = loadSync(FILES, {
  includeDirs: [PROTO],
  keepCase: true,
  enums: String,
  longs: String,
  defaults: true,
  oneofs: true,
});
const { v1 } = loadPackageDefinition(definition).signalbox;

/** Clients of all services at `host:port` or `unix:/path/to/socket`; `close` ends them. */
export function connect(target = "127.0.0.1:50051") {
  const options = { "grpc.enable_http_proxy": 0 };
  if (target.startsWith("unix:")) {
    // A socket's path is no HTTP/2 authority: servers in Rust answer it with a reset.
    options["grpc.default_authority"] = "localhost";
  }
  const make = (Service) => new Service(target, credentials.createInsecure(), options);
  const clients = {
    catalog: make(v1.CatalogService),
    journal: make(v1.JournalService),
    knowledge: make(v1.KnowledgeService),
    loop: make(v1.LoopService),
    route: make(v1.RouteService),
    system: make(v1.SystemService),
  };
  const close = () => Object.values(clients).forEach((client) => client.close());
  return { ...clients, close };
}

/** Makes one unary call. A call that fails rejects with an error that has `code` and `details`. */
export function call(client, method, request, seconds = 10) {
  return new Promise((resolve, reject) => {
    const options = { deadline: new Date(Date.now() + seconds * 1000) };
    client[method](request, new Metadata(), options, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
}
