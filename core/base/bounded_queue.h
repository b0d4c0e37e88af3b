// SPDX-License-Identifier: Apache-2.0
// The queue between two threads: any number of producers, any number of consumers.
//
// Two ways in. `push` waits for room: for work items. `offer` never waits: for events, whose producer
// must not be slowed down by a reader. When the queue is full, offer folds the item into the newest
// one, else folds older neighbours together, by the merge rule given to the constructor. What the
// rule refuses to merge is kept all the same: such items never drop, and the queue grows past its
// capacity by exactly these.
#pragma once

#include "core/base/check.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace weft {

template <class T>
class BoundedQueue {
public:
    /// Folds `newer` into `older` and returns true, or leaves both alone and returns false.
    using Merge = std::function<bool(T& older, const T& newer)>;

    explicit BoundedQueue(size_t capacity, Merge merge = {})
        : capacity_(capacity), merge_(std::move(merge)) {
        WEFT_CHECK(capacity > 0, "a queue holds at least one item");
    }
    BoundedQueue(const BoundedQueue&) = delete;
    BoundedQueue& operator=(const BoundedQueue&) = delete;

    /// Waits for room. False when the queue was closed or `stop` was requested: the item is not in.
    bool push(T item, std::stop_token stop = {}) {
        {
            std::unique_lock lock(mutex_);
            has_room_.wait(lock, stop, [&] { return closed_ || items_.size() < capacity_; });
            if (closed_ || stop.stop_requested()) {
                return false;
            }
            items_.push_back(std::move(item));
        }
        has_items_.notify_one();
        return true;
    }

    /// Never waits and never loses an item that does not merge. False only when closed.
    bool offer(T item) {
        {
            const std::lock_guard lock(mutex_);
            if (closed_) {
                return false;
            }
            if (items_.size() >= capacity_ && merge_) {
                if (merge_(items_.back(), item)) {
                    return true;
                }
                fold_neighbours();
            }
            items_.push_back(std::move(item));
        }
        has_items_.notify_one();
        return true;
    }

    /// Waits for an item. Empty when the queue is closed and drained, or `stop` was requested.
    std::optional<T> pop(std::stop_token stop = {}) {
        std::unique_lock lock(mutex_);
        has_items_.wait(lock, stop, [&] { return closed_ || !items_.empty(); });
        return stop.stop_requested() ? std::nullopt : take_first(lock);
    }

    /// As pop, for at most `timeout`.
    std::optional<T> pop_for(std::chrono::duration<double> timeout, std::stop_token stop = {}) {
        std::unique_lock lock(mutex_);
        has_items_.wait_for(lock, stop, timeout, [&] { return closed_ || !items_.empty(); });
        return stop.stop_requested() ? std::nullopt : take_first(lock);
    }

    std::optional<T> try_pop() {
        std::unique_lock lock(mutex_);
        return take_first(lock);
    }

    /// Everything that is in the queue now, oldest first.
    std::vector<T> drain() {
        std::vector<T> out;
        {
            const std::lock_guard lock(mutex_);
            out.assign(std::make_move_iterator(items_.begin()),
                       std::make_move_iterator(items_.end()));
            items_.clear();
        }
        has_room_.notify_all();
        return out;
    }

    /// No more items come in; what is queued can still be taken. Wakes every waiter.
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        has_items_.notify_all();
        has_room_.notify_all();
    }

    bool closed() const {
        const std::lock_guard lock(mutex_);
        return closed_;
    }
    size_t size() const {
        const std::lock_guard lock(mutex_);
        return items_.size();
    }
    size_t capacity() const { return capacity_; }

private:
    std::optional<T> take_first(std::unique_lock<std::mutex>& lock) {
        if (items_.empty()) {
            return std::nullopt;
        }
        std::optional<T> item(std::move(items_.front()));
        items_.pop_front();
        lock.unlock();
        has_room_.notify_one();
        return item;
    }

    // One pass; every item that merges into its predecessor disappears.
    void fold_neighbours() {
        std::deque<T> kept;
        for (T& item : items_) {
            if (kept.empty() || !merge_(kept.back(), item)) {
                kept.push_back(std::move(item));
            }
        }
        items_ = std::move(kept);
    }

    const size_t capacity_;
    const Merge merge_;
    mutable std::mutex mutex_;
    std::condition_variable_any has_items_;
    std::condition_variable_any has_room_;
    std::deque<T> items_;
    bool closed_ = false;
};

} // namespace weft
