// SPDX-License-Identifier: Apache-2.0
// Values of a program, and lists of them.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>

namespace weft::ir {

/// Index of a value in Program::values.
struct ValueId {
    std::int32_t index = -1;

    bool valid() const { return index >= 0; }
    friend auto operator<=>(const ValueId&, const ValueId&) = default;
};

/// A list of values, as std::vector: what an op reads or writes. Up to four lie in place, so that
/// nearly all ops are made and copied without an allocation.
class ValueIds {
public:
    using value_type = ValueId;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = ValueId&;
    using const_reference = const ValueId&;
    using iterator = ValueId*;
    using const_iterator = const ValueId*;

    ValueIds() = default;
    explicit ValueIds(std::size_t count, ValueId id = {}) { resize(count, id); }
    ValueIds(std::initializer_list<ValueId> ids) : ValueIds(ids.begin(), ids.end()) {}
    template <std::input_iterator Iterator>
    ValueIds(Iterator first, Iterator last) {
        insert(end(), first, last);
    }
    ValueIds(const ValueIds& other) { *this = other; }
    ValueIds(ValueIds&& other) noexcept { *this = std::move(other); }
    ValueIds& operator=(const ValueIds& other) {
        if (this != &other) {
            clear();
            reserve(other.size_);
            std::copy(other.begin(), other.end(), begin());
            size_ = other.size_;
        }
        return *this;
    }
    ValueIds& operator=(ValueIds&& other) noexcept {
        near_ = other.near_;
        far_ = std::move(other.far_);
        room_ = std::exchange(other.room_, kNear);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }
    ~ValueIds() = default;

    ValueId* data() { return far_ ? far_.get() : near_.data(); }
    const ValueId* data() const { return far_ ? far_.get() : near_.data(); }
    ValueId* begin() { return data(); }
    ValueId* end() { return data() + size_; }
    const ValueId* begin() const { return data(); }
    const ValueId* end() const { return data() + size_; }
    auto rbegin() const { return std::reverse_iterator(end()); }
    auto rend() const { return std::reverse_iterator(begin()); }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    ValueId& operator[](std::size_t i) { return data()[i]; }
    const ValueId& operator[](std::size_t i) const { return data()[i]; }
    ValueId& front() { return *begin(); }
    const ValueId& front() const { return *begin(); }
    ValueId& back() { return *(end() - 1); }
    const ValueId& back() const { return *(end() - 1); }

    void reserve(std::size_t count) {
        if (count > room_) {
            move_to(count);
        }
    }
    void push_back(ValueId id) {
        if (size_ == room_) {
            move_to(std::size_t{2} * room_);
        }
        data()[size_++] = id;
    }
    void pop_back() { --size_; }
    void clear() { size_ = 0; }
    void resize(std::size_t count, ValueId id = {}) {
        reserve(count);
        if (count > size_) {
            std::fill(end(), data() + count, id);
        }
        size_ = static_cast<std::uint32_t>(count);
    }
    template <std::input_iterator Iterator>
    void assign(Iterator first, Iterator last) {
        clear();
        insert(end(), first, last);
    }
    void assign(std::size_t count, ValueId id) {
        clear();
        resize(count, id);
    }
    /// The new ids must not be of this list.
    template <std::input_iterator Iterator>
    ValueId* insert(const ValueId* place, Iterator first, Iterator last) {
        const auto before = static_cast<std::size_t>(place - begin());
        const std::size_t old = size_;
        for (; first != last; ++first) {
            push_back(*first);
        }
        std::rotate(begin() + before, begin() + old, end());
        return begin() + before;
    }
    ValueId* insert(const ValueId* place, ValueId id) { return insert(place, &id, &id + 1); }
    ValueId* erase(const ValueId* first, const ValueId* last) {
        ValueId* const to = begin() + (first - begin());
        size_ =
            static_cast<std::uint32_t>(std::copy(last, std::as_const(*this).end(), to) - begin());
        return to;
    }
    ValueId* erase(const ValueId* place) { return erase(place, place + 1); }

    template <class Predicate>
    friend void erase_if(ValueIds& ids, Predicate predicate) {
        ids.erase(std::remove_if(ids.begin(), ids.end(), predicate), ids.end());
    }
    friend bool operator==(const ValueIds& a, const ValueIds& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    static constexpr std::uint32_t kNear = 4;

    void move_to(std::size_t room) {
        auto ids = std::make_unique_for_overwrite<ValueId[]>(room);
        std::copy(begin(), end(), ids.get());
        far_ = std::move(ids);
        room_ = static_cast<std::uint32_t>(room);
    }

    std::array<ValueId, kNear> near_ = {};
    std::unique_ptr<ValueId[]> far_; // null: in place
    std::uint32_t size_ = 0;
    std::uint32_t room_ = kNear;
};

} // namespace weft::ir
