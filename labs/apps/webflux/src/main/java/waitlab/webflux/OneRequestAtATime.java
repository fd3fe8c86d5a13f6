package waitlab.webflux;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Queue;
import reactor.netty.NettyPipeline;
import reactor.netty.channel.ChannelOperations;
import reactor.netty.http.server.HttpServer;

/**
 * Keeps a connection's next request back until Reactor Netty is done with the one before it; else a reply can be lost.
 *
 * <p>When another thread than the connection's loop ends a reply, the client can have that reply, and its next request
 * can be here, before Reactor Netty has put the exchange away. Reactor Netty 1.3.8 queues so early a request until the
 * exchange ends, but one that says {@code Connection: close} also marks the connection as ending, and the queue of such
 * a connection is not looked at again: no reply, no close, no log line (its HttpTrafficHandler: {@code channelRead} and
 * {@code userEventTriggered}). This handler stands in front of it, so that it never sees two requests at once. The
 * only request of a connection passes untouched.
 */
final class OneRequestAtATime extends ChannelInboundHandlerAdapter {

    private final Queue<Object> held = new ArrayDeque<>();

    private OneRequestAtATime() {}

    /** The same server, with every connection under this rule. */
    static HttpServer on(HttpServer server) {
        return server.doOnChannelInit((_, channel, _) -> channel.pipeline()
                .addBefore(NettyPipeline.HttpTrafficHandler, "oneRequestAtATime", new OneRequestAtATime()));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object part) {
        if (!held.isEmpty() || isTooEarly(context, part)) {
            held.add(part);
        } else {
            context.fireChannelRead(part);
        }
    }

    /** The end of an exchange is announced by an event, in the midst of that end: what was held goes on after it. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        context.fireUserEventTriggered(event);
        if (!held.isEmpty()) {
            context.executor().execute(() -> release(context));
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        held.forEach(ReferenceCountUtil::release);
        held.clear();
    }

    private void release(ChannelHandlerContext context) {
        while (!held.isEmpty() && !isTooEarly(context, held.peek())) {
            context.fireChannelRead(held.poll());
        }
    }

    private static boolean isTooEarly(ChannelHandlerContext context, Object part) {
        return part instanceof HttpRequest && ChannelOperations.get(context.channel()) != null;
    }
}
