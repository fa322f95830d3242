import java.io.IOException;
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Pattern;

// Takes a turn, asks for a code, uses it and gives the turn back: java Robot.java [seller id]. Java 17 or newer, and nothing else.
// It opens no socket: every call may be repeated, so a connection that breaks costs nothing but another call.
public class Robot {
    static final String ROOM =
        System.getenv().getOrDefault("WAITROOM", "http://localhost:8080") + "/api/" + System.getenv().getOrDefault("ROOM", "integration");
    /** One session a robot: any program that has it can act for the place. A call whose answer was lost can be repeated. */
    static final String SESSION = UUID.randomUUID().toString();
    static final HttpClient HTTP = HttpClient.newHttpClient();

    public static void main(String[] args) throws Exception {
        // join, and wait for the turn
        String mine = ask("POST", "/lock", "{\"seller_id\":\"" + (args.length > 0 ? args[0] : "s-1") + "\",\"asks\":true}");
        while (last(mine, "status").equals("waiting")) {
            System.out.println("waiting " + last(mine, "queue_position"));
            Thread.sleep(1000);
            mine = mine();
        }
        if (!last(mine, "status").equals("locked")) end("no turn: " + mine);
        String fence = last(mine, "fence");
        System.out.println("locked " + fence);

        // ask: right before the marketplace is asked. A busy number says number_busy until another seller's code can not come any more.
        System.out.println("asked " + last(ask("POST", "/lock/expect", "{\"fence\":" + fence + "}"), "asked"));

        // … ask the marketplace to send the code …

        // code: a turn that a message has ended is "ended" with its message, so the messages are looked at first
        String code = "";
        for (String after = ""; code.isEmpty(); ) {
            String got = ask("GET", "/lock/messages?wait=30&after=" + URLEncoder.encode(after, StandardCharsets.UTF_8), "");
            code = last(got, "code");
            after = last(got, "message_id");
            boolean over = got.contains("\"status\":\"ended\"") && !got.contains("\"judging\":true"); // where it is, the code is still checked
            if (code.isEmpty() && over) end("no code: the turn is over (" + last(mine(), "outcome") + ")");
        }
        System.out.println("code " + code);

        // … use the code …

        // done: the message has ended the turn already, which is no error
        System.out.println(last(ask("DELETE", "/lock?reason=completed&fence=" + fence, ""), "outcome"));
    }

    static String mine() throws Exception {
        return ask("GET", "/lock/status", "").replaceFirst("^.*\"me\":", "");
    }

    /** Repeats a call until it is answered, and where the answer says Retry-After, such as 409 number_busy, when that has passed. */
    static String ask(String method, String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(ROOM + path)).header("X-Session-ID", SESSION).timeout(Duration.ofMinutes(1))
            .header("Idempotency-Key", SESSION) // it asks once only
            .header("Content-Type", "application/json").method(method, HttpRequest.BodyPublishers.ofString(body)).build();
        for (long seconds = 1; ; Thread.sleep(seconds * 1000)) {
            try {
                HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
                if (answer.statusCode() < 300) return answer.body();
                seconds = answer.headers().firstValueAsLong("Retry-After").orElse(-1);
                if (seconds < 0) end(answer.statusCode() + " " + answer.body()); // a Problem, with a code
            } catch (IOException broken) {
                seconds = 1;
            }
        }
    }

    /** The last field of a name, "" where there is none or it is null. Use a JSON library; this one needs none. */
    static String last(String json, String name) {
        String found = "";
        for (var m = Pattern.compile("\"" + name + "\":(?:\"([^\"]*)\"|(\\d+))").matcher(json); m.find(); ) found = m.group(1) != null ? m.group(1) : m.group(2);
        return found;
    }

    static void end(String why) {
        System.err.println(why);
        System.exit(1);
    }
}
