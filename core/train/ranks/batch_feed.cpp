// SPDX-License-Identifier: Apache-2.0
#include "core/train/ranks/batch_feed.h"

#include "core/train/ranks/rank_rows.h"

#include <algorithm>

namespace weft::train {

BatchOrder training_order(const compile::RunConfig& config, data::Cursor start) {
    BatchOrder out;
    out.rows = config.global_batch_size;
    out.start = start;
    return out;
}

data::LoaderOptions loader_options(const compile::RunConfig& config, const data::Source& source,
                                   const BatchOrder& order) {
    data::LoaderOptions options;
    options.batch_size = order.rows;
    options.drop_last = order.training && config.drop_last;
    options.endless = order.training;
    options.prefetch = config.prefetch;
    options.workers = config.num_workers;
    options.max_batches = order.max_batches;
    if (order.training) {
        options.mixing =
            data::mixing_of(config.section("data").at("mix"), source.info(), config.seed);
    }
    return options;
}

data::Sampler sampler_of(const compile::RunConfig& config, const data::Source& source,
                         const BatchOrder& order) {
    return order.training
               ? data::Sampler(source, config.shuffle, config.seed, config.shuffle_window_bytes)
               : data::Sampler(source, false, config.seed);
}

void write_batch(exec::Executor& executor, const std::string& program, const data::Batch& batch) {
    for (int device = 0; device < executor.plan().mesh.devices(); ++device) {
        write_rows(executor.plan(), device, program, batch, [&](const std::string& name) {
            return executor.argument(program, name, device);
        });
    }
}

BatchFeed::BatchFeed(const compile::RunConfig& config, std::shared_ptr<const data::Source> source,
                     const BatchOrder& order, RankRows* ranks, Looks looks)
    : order_(order), ranks_(ranks), source_(std::move(source)),
      sampler_(sampler_of(config, *source_, order)) {
    data::LoaderOptions options = loader_options(config, *source_, order);
    if (ranks_ != nullptr) {
        number_ = ranks_->begin(order, *source_);
        options.rows = ranks_->own_rows(order, looks == Looks::rank_0);
    }
    loader_ = std::make_unique<data::Loader>(source_, sampler_, std::move(options), order.start);
}

BatchFeed::~BatchFeed() {
    if (ranks_ != nullptr) {
        ranks_->end(number_);
    }
}

const data::Batch* BatchFeed::next() {
    last_ = loader_->next();
    wait_ms_ = loader_->last_wait_ms();
    if (ranks_ == nullptr || last_ == nullptr) {
        waited_s_ += wait_ms_ / 1000;
        return last_;
    }
    joined_ = *last_;
    last_ = &joined_;
    const std::vector<data::LoaderUse> before = uses_;
    ranks_->next(number_, joined_, uses_);
    double others_s = 0; // who asks and answers is no loader's fault
    for (std::size_t rank = 0; rank < before.size(); ++rank) {
        others_s = std::max(others_s, uses_[rank].wait_s - before[rank].wait_s);
    }
    wait_ms_ += others_s * 1000;
    waited_s_ += wait_ms_ / 1000;
    const std::int64_t epoch = joined_.first_sample / source_->samples();
    std::sort(joined_.left_out.begin(), joined_.left_out.end(), [&](const auto& a, const auto& b) {
        return sampler_.position(epoch, a.index) < sampler_.position(epoch, b.index);
    });
    return last_;
}

void BatchFeed::write(exec::Executor& executor) const {
    if (ranks_ == nullptr) {
        write_batch(executor, order_.program, *last_);
        return;
    }
    for (const int device : ranks_->made_here(order_.part)) {
        write_rows(executor.plan(), device, order_.program, *last_, [&](const std::string& name) {
            return executor.argument(order_.program, name, device);
        });
    }
    ranks_->give(number_);
}

void BatchFeed::wait_until_full() {
    loader_->wait_until_full();
    if (ranks_ != nullptr) {
        ranks_->wait_until_full(number_);
    }
}

FeedUse BatchFeed::use() const {
    FeedUse out{waited_s_, uses_};
    out.of_ranks.resize(std::max<std::size_t>(1, uses_.size()));
    out.of_ranks.front() = loader_->use();
    return out;
}

} // namespace weft::train
