import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;

/** Joins a room, waits for the lock, and gives it back: java Seller.java [seller id]. Java 17 or newer, and nothing else. */
public class Seller {
    static final String ROOM = env("WAITROOM", "http://localhost:8080") + "/api/" + env("ROOM", "integration");
    /** One session a seller: any program that has it can act for the place. A call whose answer was lost can be repeated with it. */
    static final String SESSION = UUID.randomUUID().toString();
    static final HttpClient HTTP = HttpClient.newHttpClient();

    public static void main(String[] args) throws Exception {
        String seller = args.length > 0 ? args[0] : "s-1";
        String mine = ask("POST", "/lock", "{\"seller_id\":\"" + seller + "\"}"); // join
        if (field(mine, "status").equals("waiting")) mine = waitForTurn();
        String fence = field(mine, "fence");
        if (!field(mine, "claim_by").isEmpty()) ask("POST", "/lock/claim", "{\"fence\":" + fence + "}"); // claim
        System.out.println("locked " + fence);

        // … the work that the lock protects; hand the fence on to it …

        // done: with the fence, so that no other lease is ended by mistake
        System.out.println(field(ask("DELETE", "/lock?reason=completed&fence=" + fence, ""), "outcome"));
    }

    /** Reads states until it is our turn. A program that runs for long opens the socket again when it breaks, with a random wait. */
    static String waitForTurn() throws Exception {
        CompletableFuture<String> turn = new CompletableFuture<>();
        WebSocket socket = HTTP.newWebSocketBuilder().header("X-Session-ID", SESSION)
            .buildAsync(URI.create(ROOM.replaceFirst("^http", "ws") + "/ws"), new Listener(turn)).get();
        try {
            return turn.get();
        } finally {
            socket.abort();
        }
    }

    record Listener(CompletableFuture<String> turn, StringBuilder parts) implements WebSocket.Listener {
        Listener(CompletableFuture<String> turn) {
            this(turn, new StringBuilder());
        }

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
            parts.append(part);
            socket.request(1);
            if (!last) return null;
            String frame = parts.toString();
            parts.setLength(0);
            switch (field(frame, "type") + " " + field(frame, "status")) {
                case "ping " -> socket.sendText("{\"type\":\"pong\"}", true);
                case "state waiting" -> System.out.println("waiting " + field(frame, "queue_position"));
                case "state locked" -> turn.complete(frame);
                case "state idle", "state ended" -> turn.completeExceptionally(new IllegalStateException("no lock: " + frame));
                default -> { }
            }
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            turn.completeExceptionally(new IllegalStateException("closed: " + code));
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            turn.completeExceptionally(error);
        }
    }

    static String ask(String method, String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(ROOM + path)).header("X-Session-ID", SESSION)
            .header("Content-Type", "application/json").method(method, HttpRequest.BodyPublishers.ofString(body)).build();
        HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() >= 300) throw new IllegalStateException(answer.statusCode() + " " + answer.body()); // a Problem, with a code
        return answer.body();
    }

    /** A field of a flat object, "" where it is not there or null. Use a JSON library; this one needs none. */
    static String field(String json, String name) {
        var found = Pattern.compile("\"" + name + "\":(?:\"([^\"]*)\"|(\\d+))").matcher(json);
        if (!found.find()) return "";
        return found.group(1) != null ? found.group(1) : found.group(2);
    }

    static String env(String name, String otherwise) {
        return System.getenv().getOrDefault(name, otherwise);
    }
}
