// A client that speaks frames and knows nothing of what they mean.
import { TOKEN } from "./gateways.mjs";

export class Frames {
  #socket;
  #calls = new Map();
  #any;
  #last = 0;
  events = [];

  static async connect(url, scopes) {
    const { frames, welcome } = await Frames.greet(url, { scopes });
    if (!welcome.ok) throw new Error(JSON.stringify(welcome));
    return frames;
  }

  // Connects with parameters that may be of any kind, and tells what the gateway says to them. One that has just started
  // may ask to be tried again.
  static async greet(url, params) {
    for (let tries = 0; ; tries++) {
      const { frames, welcome } = await Frames.#greet(url, params);
      if (welcome.ok || !welcome.error.retryable || tries > 100) return { frames, welcome };
      frames.close();
      await new Promise((resolve) => setTimeout(resolve, welcome.error.retryAfterMs ?? 500));
    }
  }

  static async #greet(url, params) {
    const frames = new Frames();
    frames.#socket = new WebSocket(url);
    const challenged = new Promise((resolve, reject) => {
      frames.#socket.addEventListener("error", reject);
      frames.#socket.addEventListener("message", ({ data }) => frames.#take(JSON.parse(data), resolve));
    });
    await challenged;
    const client = { id: "gateway-client", version: "1.0.0", platform: "linux", mode: "backend" };
    const usual = { minProtocol: 4, maxProtocol: 4, client, role: "operator", scopes: [], caps: [], auth: { token: TOKEN } };
    return { frames, welcome: await frames.call("connect", { ...usual, ...params }) };
  }

  #take(frame, challenged) {
    if (frame.type === "res") {
      (this.#calls.get(frame.id) ?? this.#any)?.(frame);
      this.#calls.delete(frame.id);
    } else if (frame.event === "connect.challenge") {
      challenged();
    } else if (frame.event?.startsWith("question.")) {
      this.events.push({ event: frame.event, payload: frame.payload });
    }
  }

  call(method, params) {
    const id = String(++this.#last);
    const response = new Promise((resolve) => this.#calls.set(id, resolve));
    this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
    return response;
  }

  // Sends any text, and tells what comes next that answers something.
  send(text) {
    const response = new Promise((resolve) => (this.#any = resolve));
    this.#socket.send(text);
    return response;
  }

  // The events since the last time this was asked.
  takeEvents() {
    return this.events.splice(0);
  }

  close() {
    this.#socket.close();
  }
}
