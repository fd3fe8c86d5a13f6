package waitlab.webflux;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.net.InetSocketAddress;
import java.util.Locale;
import reactor.netty.DisposableServer;

/** The listening socket as it was bound: who serves it, how long its queue is, and by which transport. */
class Listener {

    private volatile Channel channel;

    void bound(DisposableServer server) {
        channel = server.channel();
    }

    /** The name of the loop that accepts new connections. */
    String acceptingThread() {
        return ((SingleThreadEventExecutor) channel.eventLoop()).threadProperties().name();
    }

    /** True when the accepting loop also carries requests. */
    boolean sharesLoopWith(Iterable<?> workers) {
        for (Object worker : workers) {
            if (worker == channel.eventLoop()) {
                return true;
            }
        }
        return false;
    }

    int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    int backlog() {
        return channel.config().getOption(ChannelOption.SO_BACKLOG);
    }

    /** epoll, nio, kqueue or io_uring. */
    String transport() {
        String kind = channel.getClass().getSimpleName().replace("ServerSocketChannel", "").toLowerCase(Locale.ROOT);
        return kind.equals("iouring") ? "io_uring" : kind;
    }
}
