// SPDX-License-Identifier: Apache-2.0
#include "core/train/generate.h"

#include "core/base/error.h"
#include "core/base/philox.h"
#include "core/train/program_io.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace weft::train {
namespace {

std::vector<float> logits_row(exec::Executor& executor, std::string_view program,
                              std::int64_t row) {
    const plan::PlannedPort* port = find_result(executor, program, "logits");
    WEFT_CHECK(port != nullptr && port->operand.type.dtype == ir::DType::f32,
               "logits are f32[T, V]");
    const auto width = static_cast<std::size_t>(port->whole.shape[1]);
    const std::span<const std::byte> bytes = executor.read(program, "logits");
    std::vector<float> out(width);
    std::memcpy(out.data(), bytes.data() + static_cast<std::size_t>(row) * width * sizeof(float),
                width * sizeof(float));
    return out;
}

std::int64_t context_of(const exec::Executor& executor) {
    if (executor.plan().find("prefill") == nullptr) {
        throw Error(ErrorKind::usage, "generate", "this model does not generate text",
                    "use a language model such as gpt2, or a graph from tokens [B,T] to logits "
                    "[B,T,V]");
    }
    const plan::PlannedPort* port = find_argument(executor, "prefill", "tokens");
    WEFT_CHECK(port != nullptr, "prefill takes tokens");
    return port->whole.shape[1];
}

// Logits after the last of `tokens`, which start at position 0; `unseen` comes after them.
std::vector<float> prefill(exec::Executor& executor, std::span<const std::int32_t> tokens,
                           std::int64_t context, std::int32_t unseen = 0) {
    std::vector<std::int32_t> padded(static_cast<std::size_t>(context), unseen);
    std::copy(tokens.begin(), tokens.end(), padded.begin());
    write_argument(executor, "prefill", "tokens", std::as_bytes(std::span(padded)));
    write_scalar(executor, "prefill", "position", 0);
    executor.run("prefill");
    return logits_row(executor, "prefill", static_cast<std::int64_t>(tokens.size()) - 1);
}

std::vector<float> decode(exec::Executor& executor, std::int32_t token, std::int64_t position) {
    write_argument(executor, "decode", "tokens", std::as_bytes(std::span(&token, 1)));
    write_scalar(executor, "decode", "position", static_cast<double>(position));
    executor.run("decode");
    return logits_row(executor, "decode", 0);
}

// A prefill computes the whole context, whatever it holds: a short prompt costs less token by
// token.
std::vector<float> read_prompt(exec::Executor& executor, std::span<const std::int32_t> tokens,
                               std::int64_t context, bool decodes) {
    constexpr std::int64_t kDecodesInPrefill = 32; // on processors; on GPUs either takes an instant
    const auto count = static_cast<std::int64_t>(tokens.size());
    if (!decodes || count * kDecodesInPrefill > context) {
        return prefill(executor, tokens, context);
    }
    std::vector<float> logits;
    for (std::int64_t i = 0; i < count; ++i) {
        logits = decode(executor, tokens[static_cast<std::size_t>(i)], i);
    }
    return logits;
}

// A graph can be of any kind. What is told apart by bits needs no tolerance: the same kernels run
// over the same numbers.
void require_causal(exec::Executor& executor, std::span<const std::int32_t> tokens,
                    const std::vector<float>& logits, std::int64_t context) {
    if (static_cast<std::int64_t>(tokens.size()) < context &&
        prefill(executor, tokens, context, 1) != logits) {
        throw Error(ErrorKind::usage, "generate",
                    "this graph's logits at a position depend on later tokens, which do not exist "
                    "while text is made",
                    "generate from a model whose attention is causal");
    }
}

/// What is no number comes last.
float number(float logit) {
    return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit;
}

/// Of a token among all: the most probable first, of equal ones the first. Whole numbers are put in
/// order in less than half the time that looking logits up takes.
std::uint64_t place_among(float logit, std::uint32_t token) {
    constexpr std::uint32_t kSign = 0x80000000U;
    const auto bits = std::bit_cast<std::uint32_t>(number(logit) + 0.0F); // there is one zero
    const std::uint32_t falling = (bits & kSign) != 0 ? bits : ~(bits | kSign);
    return std::uint64_t{falling} << 32 | token;
}

std::int32_t token_at(std::uint64_t place) {
    return static_cast<std::int32_t>(place & 0xffffffffU);
}

} // namespace

std::vector<std::int32_t> prompt_tokens(const data::SampleInfo& info, std::string_view text) {
    if (info.tokenizer == nullptr) {
        throw Error(ErrorKind::usage, "prompt", "nobody said what text the tokens of the data are",
                    "Lay the tokenizer.json that made them beside the files, or set "
                    "data.tokenizer.");
    }
    return info.tokenizer->encoded(text.empty() ? "\n" : text);
}

std::int32_t pick_token(std::span<const float> logits, double temperature, std::int64_t top_k,
                        double draw) {
    const auto place = [&](std::size_t i) {
        return place_among(logits[i], static_cast<std::uint32_t>(i));
    };
    std::uint64_t first_place = place(0);
    for (std::size_t i = 1; i < logits.size(); ++i) {
        first_place = std::min(first_place, place(i));
    }
    const std::int32_t best = token_at(first_place);
    if (temperature <= 0) {
        return best;
    }
    std::vector<std::uint64_t> order(logits.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = place(i);
    }
    if (top_k > 0 && static_cast<std::size_t>(top_k) < order.size()) {
        std::nth_element(order.begin(), order.begin() + top_k, order.end());
        order.resize(static_cast<std::size_t>(top_k));
    }
    std::vector<double> weights(logits.size());
    const auto sum_of = [&](auto first, auto last) {
        return std::accumulate(first, last, 0.0, [&](double sum, std::uint64_t one) {
            return sum + weights[static_cast<std::size_t>(token_at(one))];
        });
    };
    const float highest = number(logits[static_cast<std::size_t>(best)]);
    for (const std::uint64_t one : order) {
        const auto token = static_cast<std::size_t>(token_at(one));
        weights[token] = std::exp((number(logits[token]) - highest) / temperature);
    }
    // Most probable first, the token where the sum of weights passes the drawn share of them: in
    // the upper half or in the lower one, and so on, without sorting either.
    double left = draw * sum_of(order.begin(), order.end());
    auto first = order.begin();
    auto last = order.end();
    while (last - first > 1) {
        const auto middle = first + (last - first) / 2;
        std::nth_element(first, middle, last);
        const double upper = sum_of(first, middle);
        if (left < upper) {
            last = middle;
        } else {
            left -= upper;
            first = middle;
        }
    }
    return token_at(*first);
}

void generate(exec::Executor& executor, std::span<const std::int32_t> prompt,
              const GenerateOptions& options, const std::function<bool(std::int32_t)>& emit) {
    const std::int64_t context = context_of(executor);
    std::vector<std::int32_t> tokens(prompt.begin(), prompt.end());
    if (tokens.empty()) {
        throw Error(ErrorKind::usage, "prompt", "holds no token to go on from");
    }
    if (static_cast<std::int64_t>(tokens.size()) > context) {
        tokens.erase(tokens.begin(), tokens.end() - context);
    }
    const bool decodes = executor.plan().find("decode") != nullptr;
    std::vector<float> logits = read_prompt(executor, tokens, context, decodes);
    for (const std::int32_t token : tokens) {
        if (token < 0 || static_cast<std::size_t>(token) >= logits.size()) {
            throw Error(ErrorKind::usage, "prompt", "holds a token outside the model's vocabulary");
        }
    }
    if (!decodes) {
        require_causal(executor, tokens, logits, context);
    }
    const RandomStream random(options.seed, "generate");
    for (std::int64_t i = 0; i < options.tokens; ++i) {
        const std::int32_t next = pick_token(logits, options.temperature, options.top_k,
                                             random.uniform(0, static_cast<std::uint64_t>(i)));
        if (!emit(next)) {
            return;
        }
        if (i + 1 == options.tokens) {
            return;
        }
        const bool full = static_cast<std::int64_t>(tokens.size()) == context;
        if (full || !decodes) {
            const std::int64_t dropped = !full ? 0 : decodes ? (context + 1) / 2 : 1;
            tokens.erase(tokens.begin(), tokens.begin() + dropped);
            tokens.push_back(next);
            logits = prefill(executor, tokens, context);
        } else {
            tokens.push_back(next);
            logits = decode(executor, next, static_cast<std::int64_t>(tokens.size()) - 1);
        }
    }
}

} // namespace weft::train
