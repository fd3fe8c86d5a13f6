package waitlab.mvc;

import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.core.StandardHost;
import org.apache.catalina.valves.ErrorReportValve;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;

/** What Tomcat refuses before any handler sees it (an address it cannot read) is answered by a sentence as well. */
@Component
class UnreadableRequests implements WebServerFactoryCustomizer<TomcatServletWebServerFactory> {

    @Override
    public void customize(TomcatServletWebServerFactory factory) {
        factory.addContextCustomizers(context ->
                ((StandardHost) context.getParent()).setErrorReportValveClass(Sentence.class.getName()));
    }

    /** Tomcat's own report of an error, as JSON. */
    public static final class Sentence extends ErrorReportValve {

        @Override
        protected void report(Request request, Response response, Throwable failure) {
            HttpStatus status = HttpStatus.resolve(response.getStatus());
            if (status == null || !status.isError() || response.getContentWritten() > 0 || !response.setErrorReported()) {
                return;
            }
            try {
                response.setContentType(MediaType.APPLICATION_JSON_VALUE);
                response.setCharacterEncoding("UTF-8");
                response.getReporter().write("{\"error\":\"" + status.getReasonPhrase() + ".\"}");
                response.finishResponse();
            } catch (IOException | IllegalStateException gone) {
                container.getLogger().debug("The client has gone.", gone);
            }
        }
    }
}
