// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/process_communicator.h"

#include "core/base/fnv1a.h"
#include "core/exec/comm/reduce.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace weft::exec::comm {
namespace {

/// Chunk c of n of a tensor, as bytes.
template <class Byte>
std::span<Byte> chunk_in(std::span<Byte> tensor, ir::DType dtype, int c, int n) {
    const std::int64_t element = ir::dtype_bytes(dtype);
    const Chunk chunk = chunk_of(static_cast<std::int64_t>(tensor.size()) / element, c, n);
    return tensor.subspan(static_cast<std::size_t>(chunk.first * element),
                          static_cast<std::size_t>(chunk.count * element));
}

/// The parts of all tensors as one message: the only part that has bytes itself, or a copy of all.
template <class Part>
std::span<const std::byte> packed(std::size_t tensors, const Part& part,
                                  std::vector<std::byte>& room) {
    std::span<const std::byte> only;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < tensors; ++i) {
        const std::span<const std::byte> one = part(i);
        only = one.empty() ? only : one;
        bytes += one.size();
    }
    if (bytes == only.size()) {
        return only;
    }
    room.resize(std::max(room.size(), bytes));
    std::size_t at = 0;
    for (std::size_t i = 0; i < tensors; ++i) {
        const std::span<const std::byte> one = part(i);
        std::copy(one.begin(), one.end(), room.begin() + static_cast<std::ptrdiff_t>(at));
        at += one.size();
    }
    return {room.data(), bytes};
}

/// Where a message of parts comes to lie: in the only part that has bytes, or in `room`.
template <class Part>
std::span<std::byte> landing(std::size_t tensors, const Part& part, std::vector<std::byte>& room) {
    std::span<std::byte> only;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < tensors; ++i) {
        const std::span<std::byte> one = part(i);
        only = one.empty() ? only : one;
        bytes += one.size();
    }
    if (bytes == only.size()) {
        return only;
    }
    room.resize(std::max(room.size(), bytes));
    return {room.data(), bytes};
}

/// From where it came to lie into the parts.
template <class Part>
void unpack(std::size_t tensors, const Part& part, const std::vector<std::byte>& room) {
    std::size_t parts = 0;
    for (std::size_t i = 0; i < tensors; ++i) {
        parts += part(i).empty() ? 0 : 1;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < tensors && parts > 1; ++i) {
        const std::span<std::byte> one = part(i);
        std::copy_n(room.begin() + static_cast<std::ptrdiff_t>(at), one.size(), one.begin());
        at += one.size();
    }
}

void copy_own(std::span<const std::byte> src, std::span<std::byte> dst) {
    if (src.data() != dst.data() && !src.empty()) {
        std::memcpy(dst.data(), src.data(), src.size());
    }
}

} // namespace

ProcessCommunicator::ProcessCommunicator(ProcessChannel& ends, std::string name,
                                         std::vector<int> world_ranks, std::uint32_t channel,
                                         std::span<const int> hosts, Sums sums)
    : ends_(ends), name_(std::move(name)), ranks_(std::move(world_ranks)), channel_(channel),
      rank_(
          static_cast<int>(std::find(ranks_.begin(), ranks_.end(), ends_.rank()) - ranks_.begin())),
      circles_(ranks_, rank_, hosts), sums_(sums), peers_(ranks_.size()), sources_(ranks_.size()),
      describe_([this] { return place(); }) {}

ProcessCommunicator::Notice ProcessCommunicator::notice_of(const Call& call, std::int64_t number) {
    Notice out;
    out.number = number;
    out.root = call.root;
    out.tensors = static_cast<std::int32_t>(call.tensors.size());
    out.kind = static_cast<std::uint8_t>(call.kind);
    out.reduction = static_cast<std::uint8_t>(call.reduction);
    out.text = static_cast<std::uint16_t>(std::min(call.what.size(), kText));
    std::copy_n(call.what.begin(), out.text, out.what.begin());
    Fnv1a digest;
    digest.add(call.what);
    digest.add(static_cast<std::int64_t>(call.kind));
    digest.add(static_cast<std::int64_t>(call.reduction));
    digest.add(std::int64_t{call.root});
    for (std::size_t i = 0; i < call.tensors.size(); ++i) {
        const Transfer& tensor = call.tensors[i];
        const auto count = static_cast<std::int64_t>(tensor.src.size()) / dtype_bytes(tensor.dtype);
        digest.add(static_cast<std::int64_t>(tensor.dtype));
        digest.add(count);
        if (i < kNamed) {
            out.dtypes[i] = static_cast<std::uint8_t>(tensor.dtype);
            out.counts[i] = count;
        }
    }
    for (const Route& route : call.routes) {
        digest.add(std::int64_t{route.source});
        digest.add(std::int64_t{route.destination});
    }
    out.digest = digest.value();
    return out;
}

ProcessCommunicator::Notice ProcessCommunicator::message_notice(ir::DType dtype, std::size_t bytes,
                                                                std::int64_t number,
                                                                std::string_view what) {
    const Transfer tensor{{static_cast<const std::byte*>(nullptr), bytes}, {}, dtype};
    return notice_of({Kind::barrier, Reduction::sum, 0, {&tensor, 1}, {}, what}, number);
}

IssuedCall ProcessCommunicator::issued(const Notice& notice, bool message) {
    IssuedCall out;
    const auto kind = static_cast<Kind>(notice.kind);
    if (!message) {
        out.kind = kind_name(kind);
        if (kind == Kind::all_reduce || kind == Kind::reduce_scatter) {
            out.kind += " " + std::string(reduction_name(static_cast<Reduction>(notice.reduction)));
        }
    }
    for (std::size_t i = 0;
         i < std::min<std::size_t>(kNamed, static_cast<std::size_t>(notice.tensors)); ++i) {
        out.tensors.push_back({static_cast<ir::DType>(notice.dtypes[i]), notice.counts[i]});
    }
    if (kind == Kind::broadcast) {
        out.route = "from " + std::to_string(notice.root);
    }
    out.what.assign(notice.what.data(), std::min<std::size_t>(notice.text, kText));
    return out;
}

std::string ProcessCommunicator::mismatch(int peer_rank, const Notice& theirs) const {
    const bool message = doing_ != Doing::collective;
    const auto side = [&](int world_rank, const Notice& notice, const char* verb) {
        return "rank " + std::to_string(world_rank) + " " + verb + " " +
               std::to_string(notice.number) + " as " + call_text(issued(notice, message));
    };
    const std::string mine =
        side(ends_.rank(), mine_, message ? "expects message" : "calls collective");
    const std::string other =
        side(world(peer_rank), theirs, message ? "sends message" : "calls collective");
    return (message ? "messages differ: " + other + ", " + mine
                    : "collectives differ: " + mine + ", " + other) +
           " (group " + name_ + ")";
}

std::string ProcessCommunicator::place() const {
    std::string out = doing_ == Doing::collective ? "collective " : "message ";
    out += std::to_string(mine_.number);
    if (doing_ != Doing::collective) {
        out +=
            (doing_ == Doing::receiving ? " of rank " : " to rank ") + std::to_string(world(with_));
    }
    if (mine_.text > 0) {
        out += " (" + std::string(mine_.what.data(), mine_.text) + ")";
    }
    return out + " of group " + name_;
}

void ProcessCommunicator::send_part(int to, std::span<const std::byte> bytes) {
    if (!bytes.empty()) {
        pending_.push_back({ends_.send(world(to), {channel_, peer(to).sent++}, bytes), to});
        traffic_.sent_bytes += static_cast<std::int64_t>(bytes.size());
    }
}

void ProcessCommunicator::receive_part(int from, std::span<std::byte> bytes) {
    if (!bytes.empty()) {
        pending_.push_back(
            {ends_.receive(world(from), {channel_, peer(from).received++}, bytes), from});
        traffic_.received_bytes += static_cast<std::int64_t>(bytes.size());
    }
}

bool ProcessCommunicator::wait(Transport::Ticket ticket, int peer_rank, For what,
                               const std::stop_token& stop) {
    double moving_s = 0;
    return ends_.wait(ticket, world(peer_rank), stop,
                      what == For::peer ? traffic_.waited_s : moving_s);
}

bool ProcessCommunicator::settle(const std::stop_token& stop, For what) {
    bool goes_on = true;
    for (const Pending& one : pending_) {
        goes_on = goes_on && wait(one.ticket, one.peer, what, stop);
    }
    pending_.clear();
    return goes_on;
}

// Notices are no payload. Until they have come, a rank waits for others.
bool ProcessCommunicator::agree(const std::stop_token& stop) {
    const Traffic before = traffic_;
    for (int i = 1; i < size(); ++i) {
        const int other = (rank_ + i) % size();
        send_part(other, std::as_bytes(std::span(&mine_, 1)));
        receive_part(other, std::as_writable_bytes(std::span(&peer(other).notice, 1)));
    }
    traffic_.sent_bytes = before.sent_bytes;
    traffic_.received_bytes = before.received_bytes;
    if (!settle(stop, For::peer)) {
        return false;
    }
    for (int other = 0; other < size(); ++other) {
        const Notice& theirs = peer(other).notice;
        if (other != rank_ && (theirs.number != mine_.number || theirs.digest != mine_.digest)) {
            ends_.fail(mismatch(other, theirs));
        }
    }
    return true;
}

template <class Body>
Outcome ProcessCommunicator::collective(const Call& call, const std::stop_token& stop,
                                        const Body& body) {
    if (!ends_.goes_on()) {
        return Outcome::stopped;
    }
    pending_.clear(); // of a call that ended early, in a world that has ended
    doing_ = Doing::collective;
    mine_ = notice_of(call, ++traffic_.collectives);
    const ProcessChannel::InCall in_call(ends_, describe_);
    return agree(stop) && body() ? Outcome::finished : Outcome::stopped;
}

template <class Into>
void ProcessCommunicator::expect(const Circle& circle, std::size_t parts, const Into& into) {
    for (int i = 1; i < circle.size(); ++i) {
        const int place = circle.behind(i);
        const int from = circle.rank(place);
        receive_part(from,
                     landing(
                         parts, [&](std::size_t t) { return into(t, place); }, peer(from).in));
    }
}

template <class Into>
void ProcessCommunicator::take(const Circle& circle, std::size_t parts, const Into& into) {
    for (int i = 1; i < circle.size(); ++i) {
        const int place = circle.behind(i);
        unpack(
            parts, [&](std::size_t t) { return into(t, place); }, peer(circle.rank(place)).in);
    }
}

template <class Own, class Into>
bool ProcessCommunicator::tell_all(const Circle& circle, std::size_t parts, const Own& own,
                                   const Into& into, const std::stop_token& stop) {
    expect(circle, parts, into);
    const std::span<const std::byte> bytes = packed(parts, own, room_);
    for (int i = 1; i < circle.size(); ++i) {
        send_part(circle.rank(circle.ahead(i)), bytes);
    }
    if (!settle(stop)) {
        return false;
    }
    take(circle, parts, into);
    return true;
}

template <class Cut, class Into, class Type>
bool ProcessCommunicator::reduce_parts(const Circle& circle, std::size_t parts, Reduction reduction,
                                       const Cut& cut, const Into& into, const Type& dtype,
                                       const std::stop_token& stop) {
    std::size_t bytes = 0;
    for (std::size_t t = 0; t < parts; ++t) {
        bytes += into(t).size();
    }
    for (int i = 1; i < circle.size(); ++i) {
        const int from = circle.rank(circle.behind(i));
        std::vector<std::byte>& room = peer(from).in;
        room.resize(std::max(room.size(), bytes));
        receive_part(from, {room.data(), bytes});
    }
    for (int i = 1; i < circle.size(); ++i) {
        const int to = circle.ahead(i);
        send_part(circle.rank(to),
                  packed(
                      parts, [&](std::size_t t) { return cut(t, to); }, peer(circle.rank(to)).out));
    }
    if (!settle(stop)) {
        return false;
    }
    const std::span sources(sources_.data(), circle.ranks.size());
    std::size_t at = 0;
    for (std::size_t t = 0; t < parts; ++t) {
        const std::span<std::byte> dst = into(t);
        for (int i = 0; i < circle.size(); ++i) { // as it travels a ring, up to this rank
            const int source = circle.ahead(1 + i);
            sources[static_cast<std::size_t>(i)] = source == circle.place
                                                       ? cut(t, source).data()
                                                       : peer(circle.rank(source)).in.data() + at;
        }
        reduce(dtype(t), reduction, sources, dst);
        at += dst.size();
    }
    return true;
}

// Each host hears once of each part: from there its ranks tell each other.
template <class Part>
bool ProcessCommunicator::gather(std::size_t tensors, const Part& part,
                                 const std::stop_token& stop) {
    const auto own = [&](std::size_t t) { return part(t, rank_); };
    if (!circles_.several_hosts()) {
        return tell_all(circles_.all(), tensors, own, part, stop);
    }
    const Circle& near = circles_.near();
    const auto hosts = static_cast<std::size_t>(circles_.across().size());
    const auto known = [&](std::size_t i, int place) {
        return part(i / hosts, circles_.rank_at(static_cast<int>(i % hosts), place));
    };
    return tell_all(
               circles_.across(), tensors, own,
               [&](std::size_t t, int host) { return part(t, circles_.rank_at(host, near.place)); },
               stop) &&
           tell_all(
               near, tensors * hosts, [&](std::size_t i) { return known(i, near.place); }, known,
               stop);
}

// Of a mean only the last sum is divided, which is the group's.
bool ProcessCommunicator::by_host(Reduction reduction) const {
    return sums_ == Sums::by_host && circles_.several_hosts() && reduction != Reduction::mean;
}

Outcome ProcessCommunicator::all_reduce(std::span<const Transfer> tensors, Reduction reduction,
                                        std::string_view what, std::stop_token stop) {
    check_sizes(tensors, 1, 1);
    check_reduction(tensors, reduction);
    const auto dtype = [&](std::size_t t) { return tensors[t].dtype; };
    const auto chunk = [&](std::size_t t, auto bytes, int c, int n) {
        return chunk_in(bytes, tensors[t].dtype, c, n);
    };
    const auto in_levels = [&] {
        const Circle& near = circles_.near();
        const Circle& across = circles_.across();
        const auto of_host = [&](std::size_t t, int place) {
            return chunk(t, tensors[t].dst, place, near.size());
        };
        const auto sum = [&](std::size_t t, int host, int place) {
            return chunk(t, of_host(t, place), host, across.size());
        };
        return reduce_parts(
                   near, tensors.size(), reduction,
                   [&](std::size_t t, int place) {
                       return chunk(t, tensors[t].src, place, near.size());
                   },
                   [&](std::size_t t) { return of_host(t, near.place); }, dtype, stop) &&
               reduce_parts(
                   across, tensors.size(), reduction,
                   [&](std::size_t t, int host) { return sum(t, host, near.place); },
                   [&](std::size_t t) { return sum(t, across.place, near.place); }, dtype, stop) &&
               gather(
                   tensors.size(),
                   [&](std::size_t t, int owner) {
                       return sum(t, circles_.host_of(owner), circles_.place_of(owner));
                   },
                   stop);
    };
    const auto sum = [&](std::size_t t, int owner) {
        return chunk(t, tensors[t].dst, owner, size());
    };
    const auto in_one = [&] {
        return reduce_parts(
                   circles_.all(), tensors.size(), reduction,
                   [&](std::size_t t, int owner) {
                       return chunk(t, tensors[t].src, owner, size());
                   },
                   [&](std::size_t t) { return sum(t, rank_); }, dtype, stop) &&
               gather(tensors.size(), sum, stop);
    };
    return collective({Kind::all_reduce, reduction, 0, tensors, {}, what}, stop,
                      [&] { return by_host(reduction) ? in_levels() : in_one(); });
}

Outcome ProcessCommunicator::all_gather(std::span<const Transfer> tensors, std::string_view what,
                                        std::stop_token stop) {
    check_sizes(tensors, 1, size());
    const auto part = [&](std::size_t t, int owner) {
        const std::size_t bytes = tensors[t].src.size();
        return tensors[t].dst.subspan(static_cast<std::size_t>(owner) * bytes, bytes);
    };
    return collective({Kind::all_gather, Reduction::sum, 0, tensors, {}, what}, stop, [&] {
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            copy_own(tensors[t].src, part(t, rank_));
        }
        return gather(tensors.size(), part, stop);
    });
}

Outcome ProcessCommunicator::reduce_scatter(std::span<const Transfer> tensors, Reduction reduction,
                                            std::string_view what, std::stop_token stop) {
    check_sizes(tensors, size(), 1);
    check_reduction(tensors, reduction);
    const auto part = [&](std::size_t t, int owner) {
        const std::size_t bytes = tensors[t].dst.size();
        return tensors[t].src.subspan(static_cast<std::size_t>(owner) * bytes, bytes);
    };
    const auto dst = [&](std::size_t t) { return tensors[t].dst; };
    const auto dtype = [&](std::size_t t) { return tensors[t].dtype; };
    const auto in_levels = [&] {
        const Circle& near = circles_.near();
        const Circle& across = circles_.across();
        const auto hosts = static_cast<std::size_t>(across.size());
        begins_.clear(); // of this host's sums of a tensor, for each host
        std::size_t bytes = 0;
        for (const Transfer& tensor : tensors) {
            begins_.push_back(bytes);
            bytes += hosts * tensor.dst.size();
        }
        room_.resize(std::max(room_.size(), bytes));
        const auto sum = [&](std::size_t t, std::size_t host) {
            const std::size_t size = tensors[t].dst.size();
            return std::span(room_).subspan(begins_[t] + host * size, size);
        };
        return reduce_parts(
                   near, tensors.size() * hosts, reduction,
                   [&](std::size_t i, int place) {
                       return part(i / hosts, circles_.rank_at(static_cast<int>(i % hosts), place));
                   },
                   [&](std::size_t i) { return sum(i / hosts, i % hosts); },
                   [&](std::size_t i) { return tensors[i / hosts].dtype; }, stop) &&
               reduce_parts(
                   across, tensors.size(), reduction,
                   [&](std::size_t t, int host) { return sum(t, static_cast<std::size_t>(host)); },
                   dst, dtype, stop);
    };
    return collective({Kind::reduce_scatter, reduction, 0, tensors, {}, what}, stop, [&] {
        return by_host(reduction) ? in_levels()
                                  : reduce_parts(circles_.all(), tensors.size(), reduction, part,
                                                 dst, dtype, stop);
    });
}

Outcome ProcessCommunicator::all_to_all(const Transfer& tensor, std::string_view what,
                                        std::stop_token stop) {
    check_sizes({&tensor, 1}, size(), size());
    const std::size_t bytes = tensor.src.size() / static_cast<std::size_t>(size());
    const auto at = [&](int rank) { return static_cast<std::size_t>(rank) * bytes; };
    return collective({Kind::all_to_all, Reduction::sum, 0, {&tensor, 1}, {}, what}, stop, [&] {
        copy_own(tensor.src.subspan(at(rank_), bytes), tensor.dst.subspan(at(rank_), bytes));
        for (int i = 1; i < size(); ++i) {
            const int from = circles_.all().behind(i);
            receive_part(from, tensor.dst.subspan(at(from), bytes));
        }
        for (int i = 1; i < size(); ++i) {
            const int to = circles_.all().ahead(i);
            send_part(to, tensor.src.subspan(at(to), bytes));
        }
        return settle(stop);
    });
}

Outcome ProcessCommunicator::permute(const Transfer& tensor, std::span<const Route> routes,
                                     std::string_view what, std::stop_token stop) {
    check_sizes({&tensor, 1}, 1, 1);
    check_routes(routes, size());
    return collective({Kind::permute, Reduction::sum, 0, {&tensor, 1}, routes, what}, stop, [&] {
        bool gets = false;
        for (const Route& route : routes) {
            if (route.destination == rank_) {
                gets = true;
                route.source == rank_ ? copy_own(tensor.src, tensor.dst)
                                      : receive_part(route.source, tensor.dst);
            }
        }
        for (const Route& route : routes) {
            if (route.source == rank_ && route.destination != rank_) {
                send_part(route.destination, tensor.src);
            }
        }
        if (!gets) {
            std::ranges::fill(tensor.dst, std::byte{0});
        }
        return settle(stop);
    });
}

// Down the binomial tree of `root`.
Outcome ProcessCommunicator::broadcast(std::span<std::byte> data, ir::DType dtype, int root,
                                       std::string_view what, std::stop_token stop) {
    WEFT_CHECK(root >= 0 && root < size(), "the root is a rank of the group");
    const Transfer tensor{data, data, dtype};
    check_sizes({&tensor, 1}, 1, 1);
    return collective({Kind::broadcast, Reduction::sum, root, {&tensor, 1}, {}, what}, stop, [&] {
        const int place = (rank_ - root + size()) % size();
        const int levels = std::bit_width(static_cast<unsigned>(size() - 1));
        bool goes_on = true;
        for (int level = levels - 1; level >= 0 && goes_on; --level) {
            const int distance = 1 << level;
            if (place % (2 * distance) == distance) {
                receive_part((rank_ - distance + size()) % size(), data);
                goes_on = settle(stop);
            } else if (place % (2 * distance) == 0 && place + distance < size()) {
                send_part((rank_ + distance) % size(), data);
            }
        }
        return goes_on && settle(stop);
    });
}

Outcome ProcessCommunicator::barrier(std::string_view what, std::stop_token stop) {
    return collective({Kind::barrier, Reduction::sum, 0, {}, {}, what}, stop, [] { return true; });
}

Outcome ProcessCommunicator::post_send(std::span<const std::byte> src, ir::DType dtype,
                                       int destination, std::string_view what) {
    if (!ends_.goes_on()) {
        return Outcome::stopped;
    }
    Peer& to = peer(destination);
    Posted& message = to.under_way.emplace_back();
    message.notice = message_notice(dtype, src.size(), ++to.posted, what);
    message.src = src;
    ++traffic_.messages_sent;
    if (destination == rank_) {
        return Outcome::finished;
    }
    message.in_library = true;
    const std::uint32_t channel = channel_ + 1;
    message.told = ends_.send(world(destination), {channel, to.messages_sent++},
                              std::as_bytes(std::span(&message.notice, 1)));
    if (!src.empty()) {
        message.sent = ends_.send(world(destination), {channel, to.messages_sent++}, src);
        traffic_.sent_bytes += static_cast<std::int64_t>(src.size());
    }
    return Outcome::finished;
}

std::int64_t ProcessCommunicator::last_posted(int destination) const {
    return peers_[static_cast<std::size_t>(destination)].posted;
}

bool ProcessCommunicator::settle_sent(int destination, std::int64_t number,
                                      const std::stop_token& stop) {
    Peer& to = peer(destination);
    for (; to.left < number; ++to.left) {
        const Posted& first = to.under_way.front();
        if (first.in_library &&
            !(wait(first.told, destination, For::peer, stop) &&
              (first.src.empty() || wait(first.sent, destination, For::peer, stop)))) {
            return false;
        }
        to.under_way.pop_front();
    }
    return true;
}

Outcome ProcessCommunicator::wait_sent(int destination, std::int64_t number, std::stop_token stop) {
    if (!ends_.goes_on()) {
        return Outcome::stopped;
    }
    Peer& to = peer(destination);
    WEFT_CHECK(number <= to.posted, "only what was posted can leave");
    if (destination == rank_) {
        WEFT_CHECK(number <= to.taken, "a rank takes what it sends to itself before it waits");
        return Outcome::finished;
    }
    if (number <= to.left) {
        return Outcome::finished;
    }
    doing_ = Doing::sending;
    with_ = destination;
    mine_ = to.under_way[static_cast<std::size_t>(number - to.left - 1)].notice;
    const ProcessChannel::InCall in_call(ends_, describe_);
    return settle_sent(destination, number, stop) ? Outcome::finished : Outcome::stopped;
}

Outcome ProcessCommunicator::receive(std::span<std::byte> dst, ir::DType dtype, int source,
                                     std::string_view what, std::stop_token stop) {
    if (!ends_.goes_on()) {
        return Outcome::stopped;
    }
    Peer& from = peer(source);
    doing_ = Doing::receiving;
    with_ = source;
    mine_ = message_notice(dtype, dst.size(), ++from.taken, what);
    const ProcessChannel::InCall in_call(ends_, describe_);
    const std::uint32_t channel = channel_ + 1;
    if (source == rank_) {
        WEFT_CHECK(!from.under_way.empty(), "a rank sends to itself before it receives");
        from.notice = from.under_way.front().notice;
    } else if (!wait(ends_.receive(world(source), {channel, from.messages_received++},
                                   std::as_writable_bytes(std::span(&from.notice, 1))),
                     source, For::peer, stop)) {
        return Outcome::stopped;
    }
    if (from.notice.number != mine_.number || from.notice.digest != mine_.digest) {
        ends_.fail(mismatch(source, from.notice));
    }
    if (source == rank_) {
        copy_own(from.under_way.front().src, dst);
        from.under_way.pop_front();
        return Outcome::finished;
    }
    if (dst.empty()) {
        return Outcome::finished;
    }
    traffic_.received_bytes += static_cast<std::int64_t>(dst.size());
    return wait(ends_.receive(world(source), {channel, from.messages_received++}, dst), source,
                For::bytes, stop)
               ? Outcome::finished
               : Outcome::stopped;
}

} // namespace weft::exec::comm
