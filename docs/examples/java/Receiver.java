import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Takes webhooks at PORT, signed with WAITROOM_WEBHOOK_SECRET: java Receiver.java. Java 17 or newer, and nothing else. */
public class Receiver {
    static final byte[] KEY = Base64.getDecoder().decode(System.getenv("WAITROOM_WEBHOOK_SECRET").replaceFirst("^whsec_", ""));

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "9000"));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", Receiver::receive);
        server.start();
        System.out.println("listening " + server.getAddress().getPort());
    }

    static void receive(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        Headers headers = exchange.getRequestHeaders();
        try (exchange) {
            if (!verify(headers, body)) {
                exchange.sendResponseHeaders(401, -1);
                return;
            }
            var type = Pattern.compile("\"type\":\"([^\"]*)\"").matcher(new String(body, StandardCharsets.UTF_8));
            // Delivery is at least once: keep webhook-id, and do nothing for one that was there before.
            System.out.println(headers.getFirst("webhook-id") + " " + (type.find() ? type.group(1) : "?"));
            exchange.sendResponseHeaders(204, -1);
        }
    }

    /** Says whether the body is what waitroom signed, within the last five minutes. The header may have several signatures. */
    static boolean verify(Headers headers, byte[] body) {
        try {
            String id = headers.getFirst("webhook-id"), time = headers.getFirst("webhook-timestamp");
            if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(time)) > 300) return false;
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
            mac.update((id + "." + time + ".").getBytes(StandardCharsets.UTF_8));
            byte[] want = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes(StandardCharsets.UTF_8);
            for (String given : headers.getFirst("webhook-signature").split(" ")) {
                if (MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), want)) return true;
            }
            return false;
        } catch (Exception e) { // a header is missing, or is no number
            return false;
        }
    }
}
