// SPDX-License-Identifier: Apache-2.0
#include "core/exec/comm/in_process_communicator.h"

#include "core/exec/comm/reduce.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

namespace weft::exec::comm {
namespace {

/// Levels of a binomial tree over n ranks: ceil(log2 n).
int tree_levels(int n) {
    return std::bit_width(static_cast<unsigned>(n - 1));
}

} // namespace

template <class Phase>
Outcome InProcessCommunicator::collective(const Call& call, int phases, const std::stop_token& stop,
                                          const Phase& phase) {
    Outcome outcome = meeting_.enter(group_, rank_, call, phases > 0, stop);
    for (int i = 0; i < phases && outcome == Outcome::finished; ++i) {
        phase(i);
        outcome = meeting_.meet(group_, rank_, i + 1 < phases, stop);
    }
    return outcome;
}

void InProcessCommunicator::count_read(int source, std::int64_t bytes) {
    if (source != rank_) {
        me().received_bytes += bytes;
        std::atomic_ref(group_.member(source).sent_bytes)
            .fetch_add(bytes, std::memory_order_relaxed);
    }
}

void InProcessCommunicator::pull(int source, const std::byte* src, std::span<std::byte> dst) {
    if (src != dst.data() && !dst.empty()) {
        std::memcpy(dst.data(), src, dst.size());
    }
    count_read(source, static_cast<std::int64_t>(dst.size()));
}

/// Reduces the bytes at `src_offset` of every rank's source into `dst`, in ring order up to this
/// rank.
void InProcessCommunicator::reduce_part(std::size_t index, std::int64_t src_offset,
                                        std::span<std::byte> dst) {
    std::vector<const std::byte*>& sources = me().sources;
    for (int i = 0; i < size(); ++i) {
        const int source = (rank_ + 1 + i) % size();
        sources[static_cast<std::size_t>(i)] = tensor_of(source, index).src.data() + src_offset;
        count_read(source, static_cast<std::int64_t>(dst.size()));
    }
    reduce(tensor_of(rank_, index).dtype, me().call.reduction, sources, dst);
}

/// Fills this rank's dst with the chunks that the other ranks reduced.
void InProcessCommunicator::gather_chunks(std::size_t index) {
    const Transfer& mine = tensor_of(rank_, index);
    const std::int64_t element = ir::dtype_bytes(mine.dtype);
    const std::int64_t count = static_cast<std::int64_t>(mine.dst.size()) / element;
    for (int i = 1; i < size(); ++i) {
        const int owner = (rank_ + i) % size();
        const Chunk chunk = chunk_of(count, owner, size());
        const auto first = static_cast<std::size_t>(chunk.first * element);
        const auto bytes = static_cast<std::size_t>(chunk.count * element);
        pull(owner, tensor_of(owner, index).dst.data() + first, mine.dst.subspan(first, bytes));
    }
}

Outcome InProcessCommunicator::all_reduce_ring(const Call& call, const std::stop_token& stop) {
    return collective(call, 2, stop, [&](int phase) {
        for (std::size_t index = 0; index < call.tensors.size(); ++index) {
            if (phase == 1) {
                gather_chunks(index);
                continue;
            }
            const Transfer& mine = call.tensors[index];
            const std::int64_t element = ir::dtype_bytes(mine.dtype);
            const Chunk chunk =
                chunk_of(static_cast<std::int64_t>(mine.dst.size()) / element, rank_, size());
            const auto first = static_cast<std::size_t>(chunk.first * element);
            reduce_part(index, chunk.first * element,
                        mine.dst.subspan(first, static_cast<std::size_t>(chunk.count * element)));
        }
    });
}

/// Where a rank keeps its partial result: in dst, or apart where a partial result is wider.
std::byte* InProcessCommunicator::partial_of(int rank, std::size_t index) const {
    const Transfer& tensor = tensor_of(rank, index);
    return partial_dtype(tensor.dtype) == tensor.dtype ? tensor.dst.data()
                                                       : group_.member(rank).partials[index].data();
}

void InProcessCommunicator::start_partial(std::size_t index) {
    const Transfer& mine = tensor_of(rank_, index);
    const std::int64_t count =
        static_cast<std::int64_t>(mine.dst.size()) / ir::dtype_bytes(mine.dtype);
    if (partial_dtype(mine.dtype) != mine.dtype) {
        std::vector<std::vector<std::byte>>& partials = me().partials;
        partials.resize(std::max(partials.size(), index + 1));
        const auto bytes =
            static_cast<std::size_t>(count * ir::dtype_bytes(partial_dtype(mine.dtype)));
        partials[index].resize(std::max(partials[index].size(), bytes));
    }
    widen(mine.dtype, mine.src.data(), partial_of(rank_, index), count);
}

void InProcessCommunicator::add_partial(std::size_t index, int level, Reduction reduction) {
    const int child = rank_ + (1 << level);
    if (rank_ % (2 << level) != 0 || child >= size()) {
        return;
    }
    const Transfer& mine = tensor_of(rank_, index);
    const ir::DType dtype = partial_dtype(mine.dtype);
    const std::size_t bytes = mine.dst.size() /
                              static_cast<std::size_t>(ir::dtype_bytes(mine.dtype)) *
                              static_cast<std::size_t>(ir::dtype_bytes(dtype));
    std::byte* left = partial_of(rank_, index);
    const std::array<const std::byte*, 2> both = {left, partial_of(child, index)};
    reduce(dtype, reduction, both, {left, bytes});
    count_read(child, static_cast<std::int64_t>(bytes));
}

/// Down the binomial tree of `root`: at each level the ranks whose parent has the data already.
void InProcessCommunicator::pull_from_parent(std::size_t index, int level, int root) {
    const int place = (rank_ - root + size()) % size();
    const int distance = 1 << level;
    if (place % (2 * distance) == distance) {
        const int parent = (rank_ - distance + size()) % size();
        pull(parent, tensor_of(parent, index).dst.data(), tensor_of(rank_, index).dst);
    }
}

Outcome InProcessCommunicator::all_reduce_tree(const Call& call, const std::stop_token& stop) {
    const Reduction fold = call.reduction == Reduction::mean ? Reduction::sum : call.reduction;
    const int levels = tree_levels(size());
    // Phase 0: start; 1 .. levels: up; then the root finishes; then down.
    return collective(call, 2 + 2 * levels, stop, [&](int phase) {
        for (std::size_t index = 0; index < call.tensors.size(); ++index) {
            const Transfer& mine = call.tensors[index];
            if (phase == 0) {
                start_partial(index);
            } else if (phase <= levels) {
                add_partial(index, phase - 1, fold);
            } else if (phase > levels + 1) {
                pull_from_parent(index, 2 * levels + 1 - phase, 0);
            } else if (rank_ == 0) {
                finish(mine.dtype, call.reduction, size(), partial_of(0, index), mine.dst.data(),
                       static_cast<std::int64_t>(mine.dst.size()) / ir::dtype_bytes(mine.dtype));
            }
        }
    });
}

Outcome InProcessCommunicator::all_reduce(std::span<const Transfer> tensors, Reduction reduction,
                                          std::string_view what, std::stop_token stop) {
    check_sizes(tensors, 1, 1);
    check_reduction(tensors, reduction);
    const Call call{Kind::all_reduce, reduction, 0, tensors, {}, what};
    return meeting_.options().algorithm == Algorithm::tree ? all_reduce_tree(call, stop)
                                                           : all_reduce_ring(call, stop);
}

Outcome InProcessCommunicator::all_gather(std::span<const Transfer> tensors, std::string_view what,
                                          std::stop_token stop) {
    check_sizes(tensors, 1, size());
    const Call call{Kind::all_gather, Reduction::sum, 0, tensors, {}, what};
    return collective(call, 1, stop, [&](int) {
        for (std::size_t index = 0; index < tensors.size(); ++index) {
            const std::size_t part = tensors[index].src.size();
            for (int i = 0; i < size(); ++i) {
                const int source = (rank_ + i) % size();
                pull(source, tensor_of(source, index).src.data(),
                     tensors[index].dst.subspan(static_cast<std::size_t>(source) * part, part));
            }
        }
    });
}

Outcome InProcessCommunicator::reduce_scatter(std::span<const Transfer> tensors,
                                              Reduction reduction, std::string_view what,
                                              std::stop_token stop) {
    check_sizes(tensors, size(), 1);
    check_reduction(tensors, reduction);
    const Call call{Kind::reduce_scatter, reduction, 0, tensors, {}, what};
    return collective(call, 1, stop, [&](int) {
        for (std::size_t index = 0; index < tensors.size(); ++index) {
            const std::span<std::byte> part = tensors[index].dst;
            reduce_part(index, rank_ * static_cast<std::int64_t>(part.size()), part);
        }
    });
}

Outcome InProcessCommunicator::all_to_all(const Transfer& tensor, std::string_view what,
                                          std::stop_token stop) {
    check_sizes({&tensor, 1}, size(), size());
    const Call call{Kind::all_to_all, Reduction::sum, 0, {&tensor, 1}, {}, what};
    return collective(call, 1, stop, [&](int) {
        const std::size_t part = tensor.src.size() / static_cast<std::size_t>(size());
        for (int i = 0; i < size(); ++i) {
            const int source = (rank_ + i) % size();
            pull(source, tensor_of(source, 0).src.data() + static_cast<std::size_t>(rank_) * part,
                 tensor.dst.subspan(static_cast<std::size_t>(source) * part, part));
        }
    });
}

Outcome InProcessCommunicator::permute(const Transfer& tensor, std::span<const Route> routes,
                                       std::string_view what, std::stop_token stop) {
    check_sizes({&tensor, 1}, 1, 1);
    check_routes(routes, size());
    const Call call{Kind::permute, Reduction::sum, 0, {&tensor, 1}, routes, what};
    return collective(call, 1, stop, [&](int) {
        const auto mine = std::ranges::find(routes, rank_, &Route::destination);
        if (mine != routes.end()) {
            pull(mine->source, tensor_of(mine->source, 0).src.data(), tensor.dst);
        } else {
            std::ranges::fill(tensor.dst, std::byte{0});
        }
    });
}

Outcome InProcessCommunicator::broadcast(std::span<std::byte> data, ir::DType dtype, int root,
                                         std::string_view what, std::stop_token stop) {
    check_peer(root);
    const Transfer tensor{data, data, dtype};
    check_sizes({&tensor, 1}, 1, 1);
    const Call call{Kind::broadcast, Reduction::sum, root, {&tensor, 1}, {}, what};
    const int levels = tree_levels(size());
    return collective(call, levels, stop,
                      [&](int phase) { pull_from_parent(0, levels - 1 - phase, root); });
}

Outcome InProcessCommunicator::barrier(std::string_view what, std::stop_token stop) {
    return collective({Kind::barrier, Reduction::sum, 0, {}, {}, what}, 0, stop, [](int) {});
}

} // namespace weft::exec::comm
