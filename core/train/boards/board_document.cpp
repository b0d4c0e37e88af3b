// SPDX-License-Identifier: Apache-2.0
#include "core/train/boards/board_document.h"

#include "core/train/boards/board_text.h"
#include "core/train/boards/trace.h"

#include <algorithm>

namespace weft::train {
namespace {

using config::Json;

/// The first boards that can be read.
struct FirstBoards {
    std::vector<std::int64_t> indices;
    std::vector<std::int32_t> inputs;  // [boards, lead and cells]
    std::vector<std::int32_t> targets; // [boards, cells]
};

FirstBoards first_boards(const data::Source& source, std::int64_t count) {
    const data::SampleInfo& info = source.info();
    FirstBoards out;
    std::vector<std::int32_t> input(static_cast<std::size_t>(info.input.shape.elements()));
    std::vector<std::int32_t> target(static_cast<std::size_t>(info.target.shape.elements()));
    for (std::int64_t i = 0; i < source.samples() && std::ssize(out.indices) < count; ++i) {
        try {
            source.read(i, std::as_writable_bytes(std::span(input)),
                        std::as_writable_bytes(std::span(target)));
        } catch (const data::DamagedSample&) {
            continue; // the evaluation has told it
        }
        out.indices.push_back(i);
        out.inputs.insert(out.inputs.end(), input.begin(), input.end());
        out.targets.insert(out.targets.end(), target.begin(), target.end());
    }
    return out;
}

Json cycle_texts(const data::BoardForm& form, const Trace& trace) {
    std::vector<std::string> texts;
    for (std::int64_t cycle = 0; cycle < trace.all_cycles(); ++cycle) {
        texts.push_back(board_text(form, trace.guesses(cycle)));
    }
    while (texts.size() > 1 && texts[texts.size() - 2] == texts.back()) {
        texts.pop_back();
    }
    return texts;
}

} // namespace

Json board_form_json(const data::BoardForm& form) {
    Json box;
    if (form.box_rows > 0 && form.box_columns > 0) {
        box = {form.box_rows, form.box_columns};
    }
    return {{"rows", form.rows},
            {"columns", form.columns},
            {"box", std::move(box)},
            {"symbols", form.symbols},
            {"blank", form.blank}};
}

std::optional<Json> board_document(exec::Executor& executor, const data::Source& source,
                                   const std::string& split, std::int64_t step,
                                   std::int64_t samples, const std::stop_token& stop) {
    const data::SampleInfo& info = source.info();
    if (samples <= 0 || !info.board || info.target.shape.elements() != info.board->cells()) {
        return std::nullopt;
    }
    const data::BoardForm& form = *info.board;
    const FirstBoards boards = first_boards(source, std::max(samples, kMostCounted));
    if (boards.indices.empty()) {
        return std::nullopt;
    }
    const auto cells = static_cast<std::size_t>(form.cells());
    const auto lead = static_cast<std::size_t>(info.lead());
    std::vector<std::int64_t> right, halted_right, halted_wrong;
    Json kept = Json::array();
    std::int64_t cycles = 0;
    trace(executor, boards.inputs, [&](std::int64_t index, const Trace& one) {
        right.resize(static_cast<std::size_t>(one.steps));
        halted_right.resize(right.size());
        halted_wrong.resize(right.size());
        cycles = one.cycles;
        const auto at = static_cast<std::size_t>(index);
        const auto input = std::span(boards.inputs).subspan(at * (lead + cells) + lead, cells);
        const auto target = std::span(boards.targets).subspan(at * cells, cells);
        const std::int64_t after = one.halts_after();
        for (std::int64_t done = 1; done <= one.steps; ++done) {
            const bool good = wrong_cells(one.answer(done), target) == 0;
            const auto place = static_cast<std::size_t>(done - 1);
            right[place] += good ? 1 : 0;
            if (done == after) {
                ++(good ? halted_right : halted_wrong)[place];
            }
        }
        if (index < samples) {
            kept.push_back({{"index", boards.indices[static_cast<std::size_t>(index)]},
                            {"given", board_text(form, input)},
                            {"answer", board_text(form, target)},
                            {"cycles", cycle_texts(form, one)},
                            {"halts", one.halts()},
                            {"after", after}});
        }
        return !stop.stop_requested();
    });
    if (stop.stop_requested()) {
        return std::nullopt;
    }
    return Json{{"step", step},
                {"kind", "boards"},
                {"split", split},
                {"board", board_form_json(form)},
                {"steps", std::ssize(right)},
                {"cycles", cycles},
                {"boards", std::ssize(boards.indices)},
                {"right", right},
                {"halted_right", halted_right},
                {"halted_wrong", halted_wrong},
                {"samples", std::move(kept)}};
}

} // namespace weft::train
