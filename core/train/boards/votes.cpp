// SPDX-License-Identifier: Apache-2.0
#include "core/train/boards/votes.h"

#include "core/base/error.h"
#include "core/train/boards/trace.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace weft::train {
namespace {

/// What speaks for an answer.
struct Votes {
    std::int64_t count = 0;
    double sureness = 0; // summed
};

/// How many answers stand before the right one; -1: it was not given.
std::int64_t place_of(const std::map<std::string, Votes>& votes, const std::string& right) {
    const auto own = votes.find(right);
    if (own == votes.end()) {
        return -1;
    }
    const auto better = [](const Votes& a, const Votes& b) {
        const auto mean = [](const Votes& one) {
            return one.sureness / static_cast<double>(one.count);
        };
        return a.count != b.count ? a.count > b.count : mean(a) > mean(b);
    };
    return std::count_if(votes.begin(), votes.end(),
                         [&](const auto& other) { return better(other.second, own->second); });
}

std::map<std::string, Votes> votes_on(exec::Executor& executor, const data::AskedInForms& asked,
                                      std::int64_t index, std::int64_t forms,
                                      std::int64_t numbers) {
    std::vector<std::int32_t> inputs(static_cast<std::size_t>(forms * numbers));
    for (std::int64_t form = 0; form < forms; ++form) {
        asked.read_form(
            index, form,
            std::as_writable_bytes(std::span(inputs).subspan(
                static_cast<std::size_t>(form * numbers), static_cast<std::size_t>(numbers))));
    }
    std::map<std::string, Votes> out;
    trace(executor, inputs, [&](std::int64_t form, const Trace& one) {
        const std::string answer = asked.answer_in_form(index, form, one.answer(one.steps));
        if (!answer.empty()) {
            Votes& own = out[answer];
            ++own.count;
            own.sureness += 1 / (1 + std::exp(-static_cast<double>(one.verdicts.back())));
        }
        return true;
    });
    return out;
}

} // namespace

VoteCount vote(exec::Executor& executor, const data::Source& source,
               const data::AskedInForms& asked, std::int64_t forms) {
    struct Solved {
        std::int64_t samples = 0, first = 0, first_two = 0;
    };
    std::map<std::string, Solved> tasks;
    VoteCount out;
    for (std::int64_t index = 0; index < source.samples(); ++index) {
        const std::string right = asked.right_answer(index);
        if (right.empty()) {
            continue;
        }
        const std::int64_t place =
            place_of(votes_on(executor, asked, index, std::min(forms, asked.forms(index)),
                              source.info().input.shape.elements()),
                     right);
        Solved& task = tasks[asked.task(index)];
        ++task.samples;
        task.first += place == 0 ? 1 : 0;
        task.first_two += place == 0 || place == 1 ? 1 : 0;
        ++out.samples;
    }
    if (tasks.empty()) {
        throw Error(ErrorKind::usage, source.info().description,
                    "no sample has a right answer that votes could be compared with");
    }
    out.tasks = std::ssize(tasks);
    for (const auto& [name, task] : tasks) {
        const auto share = [&](std::int64_t solved) {
            return static_cast<double>(solved) / static_cast<double>(task.samples * out.tasks);
        };
        out.first += share(task.first);
        out.first_two += share(task.first_two);
    }
    return out;
}

} // namespace weft::train
