// SPDX-License-Identifier: Apache-2.0
// One rank's end of a group of threads: collectives as phases of reading between meetings. The
// order of summation and the traffic are those that in_process.h promises.
#pragma once

#include "core/exec/comm/rendezvous.h"

namespace weft::exec::comm {

class InProcessCommunicator final : public Communicator {
public:
    InProcessCommunicator(Rendezvous& rendezvous, Group& group, int rank)
        : meeting_(rendezvous), group_(group), rank_(rank) {}

    int rank() const override { return rank_; }
    int size() const override { return group_.size(); }
    const std::vector<int>& world_ranks() const override { return group_.world_ranks; }
    Traffic traffic() const override { return meeting_.traffic(group_, rank_); }

    Outcome all_reduce(std::span<const Transfer> tensors, Reduction reduction,
                       std::string_view what, std::stop_token stop) override;
    Outcome all_gather(std::span<const Transfer> tensors, std::string_view what,
                       std::stop_token stop) override;
    Outcome reduce_scatter(std::span<const Transfer> tensors, Reduction reduction,
                           std::string_view what, std::stop_token stop) override;
    Outcome all_to_all(const Transfer& tensor, std::string_view what,
                       std::stop_token stop) override;
    Outcome permute(const Transfer& tensor, std::span<const Route> routes, std::string_view what,
                    std::stop_token stop) override;
    Outcome broadcast(std::span<std::byte> data, ir::DType dtype, int root, std::string_view what,
                      std::stop_token stop) override;
    Outcome barrier(std::string_view what, std::stop_token stop) override;

    Outcome post_send(std::span<const std::byte> src, ir::DType dtype, int destination,
                      std::string_view what) override {
        check_peer(destination);
        return meeting_.post(group_, rank_, destination, src, dtype, what);
    }
    std::int64_t last_posted(int destination) const override {
        check_peer(destination);
        return meeting_.posted(group_, rank_, destination);
    }
    Outcome wait_sent(int destination, std::int64_t number, std::stop_token stop) override {
        check_peer(destination);
        return meeting_.wait_taken(group_, rank_, destination, number, stop);
    }
    Outcome receive(std::span<std::byte> dst, ir::DType dtype, int source, std::string_view what,
                    std::stop_token stop) override {
        check_peer(source);
        return meeting_.take(group_, source, rank_, dst, dtype, what, stop);
    }

private:
    Member& me() { return group_.member(rank_); }
    const Transfer& tensor_of(int rank, std::size_t index) const {
        return group_.member(rank).call.tensors[index];
    }
    void check_peer(int rank) const {
        WEFT_CHECK(rank >= 0 && rank < size(), "a rank of the group");
    }

    /// Runs `phase(0)`, ... between meetings of all ranks.
    template <class Phase>
    Outcome collective(const Call& call, int phases, const std::stop_token& stop,
                       const Phase& phase);
    void count_read(int source, std::int64_t bytes);
    void pull(int source, const std::byte* src, std::span<std::byte> dst);
    void reduce_part(std::size_t index, std::int64_t src_offset, std::span<std::byte> dst);
    void gather_chunks(std::size_t index);
    Outcome all_reduce_ring(const Call& call, const std::stop_token& stop);
    Outcome all_reduce_tree(const Call& call, const std::stop_token& stop);
    std::byte* partial_of(int rank, std::size_t index) const;
    void start_partial(std::size_t index);
    void add_partial(std::size_t index, int level, Reduction reduction);
    void pull_from_parent(std::size_t index, int level, int root);

    Rendezvous& meeting_;
    Group& group_;
    int rank_;
};

} // namespace weft::exec::comm
