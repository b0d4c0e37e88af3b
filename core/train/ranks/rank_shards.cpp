// SPDX-License-Identifier: Apache-2.0
#include "core/train/ranks/rank_shards.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/train/slot_blocks.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using checkpoint::Box;
using config::Json;

constexpr const char* kProbeName = ".shared-by-ranks";

Json extents_of(const ir::Shape& shape) {
    Json out = Json::array();
    for (const std::int64_t extent : shape) {
        out.push_back(extent);
    }
    return out;
}

ir::Shape shape_of(const Json& document) {
    ir::Shape out;
    for (const Json& extent : document) {
        out.push_back(extent.get<std::int64_t>());
    }
    return out;
}

Json told_of(const checkpoint::WrittenShard& written) {
    Json pieces = Json::array();
    for (const checkpoint::PieceInfo& piece : written.pieces) {
        pieces.push_back({piece.offset, piece.crc32c, piece.block_crc32c});
    }
    return {{"bytes", written.bytes},
            {"structure", written.structure_crc32c},
            {"pieces", std::move(pieces)}};
}

checkpoint::WrittenShard written_of(const Json& document) {
    checkpoint::WrittenShard out;
    out.bytes = document.at("bytes").get<std::int64_t>();
    out.structure_crc32c = document.at("structure").get<std::uint32_t>();
    for (const Json& piece : document.at("pieces")) {
        checkpoint::PieceInfo& info = out.pieces.emplace_back();
        info.offset = piece.at(0).get<std::int64_t>();
        info.crc32c = piece.at(1).get<std::uint32_t>();
        info.block_crc32c = piece.at(2).get<std::vector<std::uint32_t>>();
    }
    return out;
}

} // namespace

RankSaves::RankSaves(exec::RankHub& hub, const fs::path& run_folder) : hub_(hub) {
    const fs::path probe = run_folder / kProbeName;
    const std::string text = std::to_string(hub.identity(0).process) + " on " +
                             hub.identity(0).host + " at " +
                             std::to_string(SystemClock().epoch_s());
    write_file_atomically(probe, text);
    const auto answers =
        hub.ask_all({{"do", "see folder"}, {"file", probe.string()}, {"text", text}});
    for (int rank = 1; rank < hub.size(); ++rank) {
        if (answers[static_cast<std::size_t>(rank)].head.at("sees").get<bool>()) {
            writers_.insert(rank);
        }
    }
    std::error_code ignored;
    fs::remove(probe, ignored);
}

void RankSaves::stage() {
    if (!writers_.empty()) {
        hub_.ask_all({{"do", "stage"}});
    }
}

checkpoint::WriteElsewhere RankSaves::elsewhere() {
    return [this](const checkpoint::ShardOrder& order) {
        Json pieces = Json::array();
        for (const auto& [name, box] : order.pieces) {
            pieces.push_back({name, extents_of(box.start), extents_of(box.count)});
        }
        return written_of(hub_.ask_aside(order.writer, {{"do", "write shard"},
                                                        {"file", order.file.string()},
                                                        {"pieces", std::move(pieces)}})
                              .head);
    };
}

struct RankShards::State {
    State(exec::RankMember& its_member, std::shared_ptr<const plan::ExecutionPlan> its_plan)
        : member(its_member), plan(std::move(its_plan)) {}

    void stage(exec::Device& device);
    std::vector<checkpoint::TensorView> views_of(const Json& pieces) const;

    exec::RankMember& member;
    const std::shared_ptr<const plan::ExecutionPlan> plan;
    std::vector<std::byte> staging;
    std::vector<checkpoint::TensorView> staged; // a view for each block, in `staging`
    std::vector<std::jthread> writers;          // last: they go before what they read
};

RankShards::RankShards(exec::RankMember& member, std::shared_ptr<const plan::ExecutionPlan> plan)
    : state_(std::make_unique<State>(member, std::move(plan))) {}

RankShards::~RankShards() = default;

void RankShards::State::stage(exec::Device& device) {
    writers.clear(); // of the save before, which is done
    staged.clear();
    std::size_t bytes = 0;
    for (const plan::StateSlot& slot : plan->state_slots) {
        for (const OwnedBlock& owned :
             slot.saved ? owned_blocks(slot, plan->mesh) : std::vector<OwnedBlock>()) {
            if (owned.device == member.rank()) {
                bytes += static_cast<std::size_t>(owned.place.box.elements() *
                                                  ir::dtype_bytes(slot.type.dtype));
            }
        }
    }
    staging.resize(std::max(staging.size(), bytes));
    std::byte* at = staging.data();
    for (const plan::StateSlot& slot : plan->state_slots) {
        if (!slot.saved) {
            continue;
        }
        for (const OwnedBlock& owned : owned_blocks(slot, plan->mesh)) {
            if (owned.device != member.rank()) {
                continue;
            }
            const exec::HostPart part = device.slot(slot.name, exec::HostPart::Use::look);
            const auto element = static_cast<std::size_t>(ir::dtype_bytes(slot.type.dtype));
            const checkpoint::Placed copy = checkpoint::dense(owned.place.box);
            checkpoint::for_each_run(owned.place, copy, [&](const checkpoint::Run& run) {
                std::memcpy(at + static_cast<std::size_t>(run.to) * element,
                            part.data() + static_cast<std::size_t>(run.from) * element,
                            static_cast<std::size_t>(run.count) * element);
            });
            const auto size = static_cast<std::size_t>(copy.box.elements()) * element;
            checkpoint::TensorView& view = staged.emplace_back(checkpoint::TensorView{
                slot.name, std::string(plan::category_name(slot.category)), slot.whole});
            view.pieces.push_back({copy, {at, size}, member.rank()});
            at += size;
        }
    }
}

std::vector<checkpoint::TensorView> RankShards::State::views_of(const Json& pieces) const {
    std::vector<checkpoint::TensorView> out;
    for (const Json& piece : pieces) {
        const auto name = piece.at(0).get<std::string>();
        const Box box{shape_of(piece.at(1)), shape_of(piece.at(2))};
        const auto found = std::find_if(staged.begin(), staged.end(), [&](const auto& view) {
            return view.name == name && view.pieces.front().place.box == box;
        });
        WEFT_CHECK(found != staged.end(), "a rank has what it is to write: " + name);
        out.push_back(*found);
    }
    return out;
}

bool RankShards::act(const exec::Frame& command, exec::Device& device) {
    State& state = *state_;
    const auto wanted = command.head.at("do").get<std::string>();
    if (wanted == "see folder") {
        bool sees = false;
        try {
            sees = read_file(command.head.at("file").get<std::string>(), 1 << 16) ==
                   command.head.at("text").get<std::string>();
        } catch (const Error&) {
            // It is not there: another machine's folder.
        }
        state.member.answer({{"sees", sees}});
        return true;
    }
    if (wanted == "stage") {
        state.stage(device);
        state.member.answer();
        return true;
    }
    if (wanted != "write shard") {
        return false;
    }
    state.writers.emplace_back([&state, command] {
        try {
            state.member.answer_aside(command, told_of(checkpoint::write_shard(
                                                   command.head.at("file").get<std::string>(),
                                                   state.views_of(command.head.at("pieces")))));
        } catch (const Error& fault) {
            state.member.answer_aside(command, fault);
        } catch (const std::exception& fault) {
            state.member.answer_aside(command, Error(ErrorKind::checkpoint, "", fault.what()));
        }
    });
    return true;
}

} // namespace weft::train
