// SPDX-License-Identifier: Apache-2.0
#include "core/train/ranks/rank_rows.h"

#include "core/base/error.h"
#include "core/base/fnv1a.h"
#include "core/base/text.h"
#include "core/data/files/damaged_files.h"
#include "core/exec/placement_copy.h"
#include "core/train/engine.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weft::train {
namespace {

using config::Json;

constexpr std::array<std::string_view, 5> kRowArguments = {"inputs", "targets", "weights", "others",
                                                           "shares"};
constexpr std::int64_t kLookedAt = 8; // samples of a part

/// Calls fn(port) for what a device holds of the arguments that are made of batches.
template <typename Fn>
void for_each_row_argument(const plan::ExecutionPlan& plan, int device, const std::string& program,
                           const Fn& fn) {
    const plan::PlannedProgram* own = plan.find(program, plan.stage_of(device));
    if (own == nullptr) {
        return;
    }
    for (const plan::PlannedPort& port : own->arguments) {
        if (std::find(kRowArguments.begin(), kRowArguments.end(), port.name) !=
                kRowArguments.end() &&
            port.placement.holds(plan.mesh, device)) {
            fn(port);
        }
    }
}

/// Which rows of a batch a device holds something of.
std::vector<bool> rows_held(const plan::ExecutionPlan& plan, int device, const BatchOrder& order) {
    std::vector<bool> out(static_cast<std::size_t>(order.rows));
    for_each_row_argument(plan, device, order.program, [&](const plan::PlannedPort& port) {
        const std::size_t row = static_cast<std::size_t>(port.whole.bytes()) / out.size();
        exec::for_each_run(port.whole, port.placement, plan.mesh, device,
                           [&](const exec::CommonRun& run) {
                               const std::size_t end = (run.in_whole + run.bytes + row - 1) / row;
                               for (std::size_t at = run.in_whole / row; at < end; ++at) {
                                   out[at] = true;
                               }
                           });
    });
    return out;
}

/// What `rank` does with each row. The first rank that makes one counts it.
std::vector<data::RowUse> uses_of(const plan::ExecutionPlan& plan, int rank,
                                  const BatchOrder& order, const std::set<int>& made_by_rank_0) {
    std::vector<data::RowUse> out(static_cast<std::size_t>(order.rows), data::RowUse::none);
    std::vector<bool> taken(out.size());
    const auto add = [&](int maker, int device) {
        const std::vector<bool> held = rows_held(plan, device, order);
        for (std::size_t row = 0; row < held.size(); ++row) {
            if (held[row] && maker == rank && out[row] == data::RowUse::none) {
                out[row] = taken[row] ? data::RowUse::made : data::RowUse::counted;
            }
            taken[row] = taken[row] || held[row];
        }
    };
    for (const int device : made_by_rank_0) {
        add(0, device);
    }
    for (int device = 1; device <= rank; ++device) {
        if (!made_by_rank_0.contains(device)) {
            add(device, device);
        }
    }
    return out;
}

/// Samples from all over a source, by number.
std::vector<std::int64_t> looked_at(std::int64_t samples) {
    std::vector<std::int64_t> out;
    const std::int64_t count = std::min(kLookedAt, samples);
    for (std::int64_t i = 0; i < count; ++i) {
        out.push_back(count == 1 ? 0 : i * (samples - 1) / (count - 1));
    }
    return out;
}

/// What sources that hold the same have in common: numbers, names of files, sums of some samples.
Json look_of(const data::Source& source) {
    std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
    std::vector<std::byte> target(static_cast<std::size_t>(source.info().target.bytes()));
    Json sums = Json::array();
    for (const std::int64_t index : looked_at(source.samples())) {
        Fnv1a sum;
        try {
            source.read(index, input, target);
            sum.add(input);
            sum.add(target);
        } catch (const data::DamagedSample& fault) {
            sum.add(std::string_view(data::fault_of(fault)));
        }
        sums.push_back(sum.value());
    }
    return {{"samples", source.samples()},
            {"sums", std::move(sums)},
            {"fingerprint", source.fingerprint()}};
}

/// Throws where what `whose` rank sees is not what `source` holds.
void require_same(const Json& own, const Json& other, const data::Source& source,
                  const std::string& whose) {
    const auto refuse = [&](const std::string& where, const std::string& text) {
        throw Error(ErrorKind::data, whose + ", " + where, text,
                    "Copy the data of rank 0's host there anew, so that all ranks train on the "
                    "same.");
    };
    if (own.at("samples") != other.at("samples")) {
        refuse(source.info().description,
               "has " + format_thousands(other.at("samples").get<std::int64_t>()) +
                   " samples there, and " + format_thousands(source.samples()) + " on rank 0");
    }
    const std::vector<std::int64_t> indices = looked_at(source.samples());
    for (std::size_t i = 0; i < indices.size(); ++i) {
        if (own.at("sums").at(i) != other.at("sums").at(i)) {
            refuse(source.place_of(indices[i]), "is another sample there than on rank 0");
        }
    }
    if (own.at("fingerprint") != other.at("fingerprint")) {
        refuse(source.info().description, "has files of other names or sizes there than on rank 0");
    }
}

const std::shared_ptr<const data::Source>& part_of(const data::DataSet& data,
                                                   const std::string& part) {
    const auto& out = part == "train"        ? data.train
                      : part == "validation" ? data.validation
                                             : data.test;
    WEFT_CHECK(out != nullptr, "the run has the part " + part);
    return out;
}

Json use_json(const data::LoaderUse& use) {
    return {use.stages, use.wait_s, use.samples, use.batches, use.ready};
}

data::LoaderUse use_of(const Json& document) {
    return {document.at(0).get<StageSeconds>(), document.at(1).get<double>(),
            document.at(2).get<std::int64_t>(), document.at(3).get<std::int64_t>(),
            document.at(4).get<std::int64_t>()};
}

Json order_json(const BatchOrder& order) {
    return {{"program", order.program},
            {"part", order.part},
            {"rows", order.rows},
            {"training", order.training},
            {"max_batches", order.max_batches},
            {"epoch", order.start.epoch},
            {"position", order.start.position}};
}

BatchOrder order_of(const Json& document) {
    BatchOrder out;
    out.program = document.at("program").get<std::string>();
    out.part = document.at("part").get<std::string>();
    out.rows = document.at("rows").get<std::int64_t>();
    out.training = document.at("training").get<bool>();
    out.max_batches = document.at("max_batches").get<std::int64_t>();
    out.start = {document.at("epoch").get<std::int64_t>(),
                 document.at("position").get<std::int64_t>()};
    return out;
}

} // namespace

void write_rows(const plan::ExecutionPlan& plan, int device, const std::string& program,
                const data::Batch& batch,
                const std::function<exec::HostPart(const std::string& name)>& argument) {
    const std::array<std::span<const std::byte>, kRowArguments.size()> arrays = {
        batch.inputs, batch.targets, std::as_bytes(std::span(batch.weights)),
        std::as_bytes(std::span(batch.others)), std::as_bytes(std::span(batch.shares))};
    for_each_row_argument(plan, device, program, [&](const plan::PlannedPort& port) {
        const auto at = std::find(kRowArguments.begin(), kRowArguments.end(), port.name);
        const auto whole = arrays[static_cast<std::size_t>(at - kRowArguments.begin())];
        WEFT_CHECK(std::ssize(whole) == port.whole.bytes(), "a whole array has its own size");
        exec::HostPart into = argument(port.name);
        exec::cut_part(port.whole, whole, port.placement, plan.mesh, device, into);
        into.store();
    });
}

RankRows::RankRows(exec::RankHub& hub, std::shared_ptr<const plan::ExecutionPlan> plan)
    : hub_(hub), plan_(std::move(plan)) {}

void RankRows::look_at(const std::string& part, const data::Source& source) {
    if (made_here_.contains(part)) {
        return;
    }
    std::vector<exec::Frame> told = hub_.ask_all({{"do", "look at data"}, {"part", part}});
    const Json own = look_of(source);
    std::set<int> here = {0};
    for (int rank = 1; rank < hub_.size(); ++rank) {
        const Json& other = told[static_cast<std::size_t>(rank)].head;
        const std::string whose =
            "rank " + std::to_string(rank) + " on " + hub_.identity(rank).host;
        if (const std::string lacks = other.value("lacks", ""); lacks.empty()) {
            require_same(own, other, source, whose);
        } else {
            here.insert(rank);
            warn_("The " + part + " data are not read by " + whose + ": " + lacks +
                      ". Rank 0 reads its rows, and sends them with every batch.",
                  "Where they lie at the same path on that host, its ranks read their own rows.");
        }
    }
    made_here_.emplace(part, std::move(here));
}

std::vector<data::RowUse> RankRows::own_rows(const BatchOrder& order, bool all) const {
    std::vector<data::RowUse> out = uses_of(*plan_, 0, order, made_here(order.part));
    if (all) {
        std::replace(out.begin(), out.end(), data::RowUse::none, data::RowUse::made);
    }
    return out;
}

int RankRows::begin(const BatchOrder& order, const data::Source& source) {
    look_at(order.part, source);
    ++last_number_;
    Json head{{"do", "make batches"}, {"number", last_number_}, {"order", order_json(order)}};
    head["by_rank_0"] = made_here(order.part);
    hub_.ask_all(head);
    return last_number_;
}

void RankRows::end(int number) noexcept {
    try {
        for (int rank = 1; rank < hub_.size(); ++rank) {
            hub_.tell(rank, {{"do", "no more batches"}, {"number", number}});
        }
    } catch (const std::exception&) { // the run has failed: all of them go
    }
}

void RankRows::wait_until_full(int number) {
    hub_.ask_all({{"do", "batches ahead"}, {"number", number}});
}

void RankRows::next(int number, data::Batch& own, std::vector<data::LoaderUse>& uses) {
    const std::vector<exec::Frame> told = hub_.ask_all({{"do", "next batch"}, {"number", number}});
    uses.resize(told.size());
    for (std::size_t rank = 1; rank < told.size(); ++rank) {
        const Json& answer = told[rank].head;
        own.count += answer.at("count").get<double>();
        for (const Json& one : answer.at("left_out")) {
            own.left_out.push_back({one.at(0).get<std::int64_t>(), one.at(1).get<std::string>()});
        }
        uses[rank] = use_of(answer.at("use"));
    }
}

void RankRows::give(int number) {
    for (int rank = 1; rank < hub_.size(); ++rank) {
        hub_.tell(rank, {{"do", "write batch"}, {"number", number}});
    }
}

struct RankLoaders::State {
    /// Batches under way.
    struct Feed {
        BatchOrder order;
        std::unique_ptr<data::Loader> loader; // null: nothing of them is made here
        const data::Batch* batch = nullptr;   // the last one
    };

    Json look_at(const std::string& part) {
        try {
            if (!data) {
                data = open_run_data(config);
            }
            return look_of(*part_of(*data, part));
        } catch (const Error& fault) {
            if (fault.kind() != ErrorKind::data) {
                throw;
            }
            return {{"lacks", fault.where() + ": " + fault.text()}};
        }
    }

    void begin(int number, const BatchOrder& order, const std::set<int>& by_rank_0) {
        Feed& feed = feeds[number];
        feed.order = order;
        if (by_rank_0.contains(member.rank())) {
            return;
        }
        const std::shared_ptr<const data::Source>& source = part_of(*data, order.part);
        data::LoaderOptions options = loader_options(config, *source, order);
        options.rows = uses_of(*plan, member.rank(), order, by_rank_0);
        feed.loader = std::make_unique<data::Loader>(source, sampler_of(config, *source, order),
                                                     std::move(options), order.start);
    }

    Json next(Feed& feed) {
        Json out{{"count", 0.0}, {"left_out", Json::array()}, {"use", use_json(data::LoaderUse{})}};
        if (feed.loader != nullptr) {
            feed.batch = feed.loader->next();
            WEFT_CHECK(feed.batch != nullptr, "ranks have as many batches as rank 0");
            out["count"] = feed.batch->count;
            out["use"] = use_json(feed.loader->use());
            for (const data::LeftOut& one : feed.batch->left_out) {
                out["left_out"].push_back({one.index, one.fault});
            }
        }
        return out;
    }

    void write(const Feed& feed, exec::Device& device) const {
        if (feed.loader == nullptr) {
            return; // rank 0 sends it
        }
        write_rows(
            *plan, member.rank(), feed.order.program, *feed.batch,
            [&](const std::string& name) { return device.argument(feed.order.program, name); });
    }

    exec::RankMember& member;
    const compile::RunConfig config;
    const std::shared_ptr<const plan::ExecutionPlan> plan;
    std::optional<data::DataSet> data{};
    std::map<int, Feed> feeds{}; // by number
};

RankLoaders::RankLoaders(exec::RankMember& member, compile::RunConfig config,
                         std::shared_ptr<const plan::ExecutionPlan> plan)
    : state_(new State{member, std::move(config), std::move(plan)}) {}

RankLoaders::~RankLoaders() = default;

// What goes wrong with data is rank 0's to tell: the run may go on once they are mended.
bool RankLoaders::act(const exec::Frame& command, exec::Device& device) {
    State& state = *state_;
    const Json& head = command.head;
    const auto wanted = head.at("do").get<std::string>();
    const int number = head.value("number", 0);
    if (wanted == "write batch") {
        state.write(state.feeds.at(number), device);
        return true;
    }
    if (wanted == "no more batches") {
        state.feeds.erase(number);
        return true;
    }
    Json answer = Json::object();
    try {
        if (wanted == "look at data") {
            answer = state.look_at(head.at("part").get<std::string>());
        } else if (wanted == "make batches") {
            state.begin(number, order_of(head.at("order")),
                        head.at("by_rank_0").get<std::set<int>>());
        } else if (wanted == "batches ahead") {
            if (const auto& loader = state.feeds.at(number).loader; loader != nullptr) {
                loader->wait_until_full();
            }
        } else if (wanted == "next batch") {
            answer = state.next(state.feeds.at(number));
        } else {
            return false;
        }
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::data) {
            throw;
        }
        state.member.answer(fault);
        return true;
    }
    state.member.answer(std::move(answer));
    return true;
}

} // namespace weft::train
