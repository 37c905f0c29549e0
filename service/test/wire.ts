import { connect, createServer, type Server, type Socket } from "node:net";
import { inject, onTestFinished } from "vitest";
import type { TestDatabase } from "./harness.ts";

/** A TCP proxy between the service and its database that a test can interrupt. */
export class Wire {
  /** The port of the database. A change affects only new connections. */
  target = inject("postgresPort");
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #fromServer = new Set<Socket>();
  #isHolding = false;
  #losesNextCommitReply = false;
  #isRefusing = false;
  #isRefusingAfterCommit = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Wire> {
    const server = createServer();
    const wire = new Wire(server);
    server.on("connection", (client) => wire.#carry(client));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      wire.cut();
      server.close();
    });
    return wire;
  }

  /** The database's URL through this proxy. */
  urlOf(database: TestDatabase): string {
    const url = new URL(database.serviceUrl);
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy is not listening");
    url.port = String(address.port);
    return url.href;
  }

  /** Forwards the next commit, drops its response, and closes the connection. */
  loseNextCommitReply(options: { thenRefusing: boolean } = { thenRefusing: false }): void {
    this.#losesNextCommitReply = true;
    this.#isRefusingAfterCommit = options.thenRefusing;
  }

  /** Closes all connections. With `refusing`, new connections are refused. */
  cut(options: { refusing: boolean } = { refusing: false }): void {
    this.#isRefusing = options.refusing;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  /** Delays responses from the database until `release`. */
  hold(): void {
    this.#isHolding = true;
    for (const socket of this.#fromServer) socket.pause();
  }

  release(): void {
    this.#isHolding = false;
    for (const socket of this.#fromServer) socket.resume();
  }

  mend(): void {
    this.#isRefusing = false;
  }

  #carry(client: Socket): void {
    if (this.#isRefusing) {
      client.destroy();
      return;
    }
    const server = connect({ host: "127.0.0.1", port: this.target });
    let isDeaf = false;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        server.destroy();
      });
    }
    client.on("data", (chunk) => {
      if (this.#losesNextCommitReply && chunk.includes("commit\0")) {
        this.#losesNextCommitReply = false;
        isDeaf = true;
        setTimeout(() => this.cut({ refusing: this.#isRefusingAfterCommit }), 100);
      }
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (!isDeaf) client.write(chunk);
    });
    this.#fromServer.add(server);
    server.on("close", () => this.#fromServer.delete(server));
    if (this.#isHolding) server.pause();
  }
}
