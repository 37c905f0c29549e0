import { once } from "node:events";
import { connect, type Socket } from "node:net";

const HEAD_END = "\r\n\r\n";

/**
 * A kept-alive HTTP connection with one call under way at a time. By hand, because Node's own client would take a good
 * part of the processor time that the service on the same machine needs.
 */
export class Connection {
  readonly #socket: Socket;
  #received = "";
  #onAnswer: ((answer: string) => void) | null = null;

  static async open(options: { host: string; port: number }): Promise<Connection> {
    const socket = connect({ ...options, noDelay: true });
    await once(socket, "connect");
    return new Connection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => this.#receive(chunk));
    // Unheard, it ends the program: a run in which connections break is no measurement.
    socket.on("end", () => socket.destroy(new Error("the service closed a connection")));
  }

  send(request: string, onAnswer: (answer: string) => void): void {
    this.#onAnswer = onAnswer;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners("end").destroy();
  }

  #receive(chunk: string): void {
    this.#received += chunk;
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#received)?.[1]);
    if (this.#received.length < headEnd + HEAD_END.length + length) return;
    const answer = this.#received;
    const onAnswer = this.#onAnswer;
    this.#received = "";
    this.#onAnswer = null;
    onAnswer?.(answer);
  }
}
