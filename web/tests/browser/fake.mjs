// A controller of which only the API is there: it serves the page, one state of a network, and what else the page asks for.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const DIST = new URL("../../dist/", import.meta.url);
const FILES = { "/": ["index.html", "text/html"], "/app.js": ["app.js", "text/javascript"], "/app.css": ["app.css", "text/css"], "/icon.svg": ["icon.svg", "image/svg+xml"] };
/** As the controller sends it. */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; frame-ancestors 'none'";


/** `answers` has what each path of the API answers, beside the `snapshot`; `headers` stand in each answer. */
export async function fake({ snapshot, deltas = [], answers = {}, headers = {} }) {
  const json = (response, body, status = 200) => response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/api/v1/stream") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const send = (event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
      send("snapshot", snapshot);
      for (const it of deltas) send("delta", it);
      // A controller that has nothing to tell says so each second.
      const timer = setInterval(() => send("delta", { schema: "braid/v1", now: deltas.at(-1)?.now ?? snapshot.now }), 1000);
      response.on("close", () => clearInterval(timer));
      return;
    }
    const answer = answers[pathname];
    if (answer) return json(response, typeof answer === "function" ? answer(new URL(request.url, "http://localhost").searchParams) : answer, answer.status);
    if (pathname === "/api/v1/testbed/links") return json(response, { schema: "braid/v1", links: [] });
    if (pathname === "/api/v1/assignments") return json(response, { schema: "braid/v1", now: snapshot.now, assignments: [] });
    if (pathname === "/api/v1/alarms") return json(response, { schema: "braid/v1", now: snapshot.now, alarms: [] });
    const [name, kind] = FILES[pathname] ?? [];
    if (!name) return json(response, { title: "not found" }, 404);
    return response.writeHead(200, { "content-type": kind, "content-security-policy": POLICY }).end(readFileSync(new URL(name, DIST)));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
