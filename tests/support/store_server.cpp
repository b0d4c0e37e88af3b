// SPDX-License-Identifier: Apache-2.0
#include "tests/support/store_server.h"

#include <QByteArray>
#include <QCryptographicHash>

#include <algorithm>
#include <sstream>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::test {
namespace {

std::string decoded(const std::string& text) {
    return QByteArray::fromPercentEncoding(QByteArray::fromStdString(text)).toStdString();
}

std::string etag_of(const std::string& content) {
    return "\"" +
           QCryptographicHash::hash(QByteArray::fromStdString(content), QCryptographicHash::Md5)
               .toHex()
               .toStdString() +
           "\"";
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// Fills `buffer` until it has `wanted` bytes. False: the other side is gone.
bool receive(int connection, std::string& buffer, std::size_t wanted) {
    char bytes[65536];
    while (buffer.size() < wanted) {
        const ssize_t count = ::recv(connection, bytes, sizeof bytes, 0);
        if (count <= 0) {
            return false;
        }
        buffer.append(bytes, static_cast<std::size_t>(count));
    }
    return true;
}

bool send_all(int connection, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

std::optional<WireRequest> read_request(int connection, std::string& buffer) {
    std::size_t end = std::string::npos;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
        if (!receive(connection, buffer, buffer.size() + 1)) {
            return std::nullopt;
        }
    }
    std::istringstream head(buffer.substr(0, end + 2));
    buffer.erase(0, end + 4);
    WireRequest out;
    std::string target;
    std::string line;
    std::getline(head, line);
    std::istringstream(line) >> out.method >> target;
    const std::size_t mark = target.find('?');
    out.path = target.substr(0, mark);
    if (mark != std::string::npos) {
        std::istringstream query(target.substr(mark + 1));
        for (std::string part; std::getline(query, part, '&');) {
            const std::size_t equals = std::min(part.find('='), part.size());
            out.query[part.substr(0, equals)] = part.substr(std::min(equals + 1, part.size()));
        }
    }
    while (std::getline(head, line) && line.size() > 1) {
        const std::size_t colon = line.find(':');
        const std::size_t first = line.find_first_not_of(' ', colon + 1);
        out.headers[lower(line.substr(0, colon))] =
            line.substr(first, line.find_last_not_of("\r ") + 1 - first);
    }
    if (out.headers.contains("expect")) {
        send_all(connection, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    if (const auto length = out.headers.find("content-length"); length != out.headers.end()) {
        const std::size_t bytes = std::stoul(length->second);
        if (!receive(connection, buffer, bytes)) {
            return std::nullopt;
        }
        out.body = buffer.substr(0, bytes);
        buffer.erase(0, bytes);
    }
    return out;
}

WireReply fault_of(int status, const std::string& code) {
    return {status, "<?xml version=\"1.0\"?><Error><Code>" + code +
                        "</Code><Message>of the test"
                        "</Message></Error>"};
}

/// The bytes that a Range header asks for.
WireReply ranged(const WireRequest& request, const std::string& content) {
    WireReply reply{200, content, {{"ETag", etag_of(content)}}};
    if (const auto match = request.headers.find("if-match");
        match != request.headers.end() && match->second != etag_of(content)) {
        return fault_of(412, "PreconditionFailed");
    }
    if (const auto range = request.headers.find("range"); range != request.headers.end()) {
        std::size_t first = 0;
        std::size_t last = 0;
        char separator = 0;
        std::istringstream(range->second.substr(6)) >> first >> separator >> last;
        reply.status = 206;
        reply.body = content.substr(first, last - first + 1);
    }
    return reply;
}

} // namespace

StoreServer::StoreServer() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 16) != 0) {
        qFatal("no port of this machine is free");
    }
    socklen_t length = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { serve(); });
}

StoreServer::~StoreServer() {
    thread_.request_stop();
    ::shutdown(listener_, SHUT_RDWR);
    {
        const std::lock_guard lock(mutex_);
        if (connection_ >= 0) {
            ::shutdown(connection_, SHUT_RDWR);
        }
    }
    thread_.join();
    ::close(listener_);
}

std::string StoreServer::endpoint() const {
    return "http://127.0.0.1:" + std::to_string(port_);
}

std::map<std::string, std::string> StoreServer::objects() const {
    const std::lock_guard lock(mutex_);
    return objects_;
}

void StoreServer::set(const std::string& path, const std::string& content) {
    const std::lock_guard lock(mutex_);
    objects_[path] = content;
}

std::vector<std::string> StoreServer::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

std::vector<std::string> StoreServer::bad_signatures() const {
    const std::lock_guard lock(mutex_);
    return bad_signatures_;
}

std::size_t StoreServer::open_uploads() const {
    const std::lock_guard lock(mutex_);
    return uploads_.size();
}

void StoreServer::order(std::function<std::optional<WireReply>(const WireRequest&)> fault) {
    const std::lock_guard lock(mutex_);
    fault_ = std::move(fault);
}

void StoreServer::set_page(std::size_t objects) {
    const std::lock_guard lock(mutex_);
    page_ = objects;
}

void StoreServer::serve() {
    // One connection after the other: a store of ours uses one.
    for (;;) {
        const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0 || thread_.get_stop_token().stop_requested()) {
            return;
        }
        {
            const std::lock_guard lock(mutex_);
            connection_ = connection;
        }
        serve_connection(connection);
        const std::lock_guard lock(mutex_);
        connection_ = -1;
        ::close(connection);
    }
}

void StoreServer::serve_connection(int connection) {
    std::string buffer;
    while (const std::optional<WireRequest> request = read_request(connection, buffer)) {
        WireReply reply;
        {
            const std::lock_guard lock(mutex_);
            std::string line = request->method + " " + request->path;
            char separator = '?';
            for (const auto& [name, value] : request->query) {
                line += separator + name + "=" + value;
                separator = '&';
            }
            requests_.push_back(line);
            const std::string problem = signature_problem(*request, kKeyId, kSecret);
            std::optional<WireReply> ordered = fault_ ? fault_(*request) : std::nullopt;
            if (!problem.empty()) {
                bad_signatures_.push_back(line + ": " + problem);
                reply = fault_of(403, "SignatureDoesNotMatch");
            } else {
                reply = ordered ? *ordered : answer(*request);
            }
        }
        std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Told\r\n";
        for (const auto& [name, value] : reply.headers) {
            head += name + ": " + value + "\r\n";
        }
        head += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n";
        const std::string_view body =
            request->method == "HEAD" ? std::string_view() : std::string_view(reply.body);
        const bool cut = reply.cut_after >= 0;
        const bool sent =
            send_all(connection, head) &&
            send_all(connection,
                     cut ? body.substr(0, static_cast<std::size_t>(reply.cut_after)) : body);
        if (!sent || cut) {
            return;
        }
    }
}

WireReply StoreServer::answer_upload(const WireRequest& request) {
    const std::string path = decoded(request.path);
    if (request.query.contains("uploads")) {
        const std::string id = "upload-" + std::to_string(next_upload_++);
        uploads_[id];
        return {200, "<InitiateMultipartUploadResult><UploadId>" + id +
                         "</UploadId></InitiateMultipartUploadResult>"};
    }
    const auto upload = uploads_.find(request.query.at("uploadId"));
    if (upload == uploads_.end()) {
        return fault_of(404, "NoSuchUpload");
    }
    if (request.method == "PUT") {
        upload->second[std::stoi(request.query.at("partNumber"))] = request.body;
        return {200, "", {{"ETag", etag_of(request.body)}}};
    }
    if (request.method == "POST") {
        std::string content;
        for (const auto& [number, part] : upload->second) {
            const std::string told = "<PartNumber>" + std::to_string(number) +
                                     "</PartNumber><ETag>" + etag_of(part) + "</ETag>";
            if (request.body.find(told) == std::string::npos) {
                return fault_of(400, "InvalidPart");
            }
            content += part;
        }
        objects_[path] = content;
        uploads_.erase(upload);
        return {200, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>"};
    }
    uploads_.erase(upload);
    return {204};
}

WireReply StoreServer::answer(const WireRequest& request) {
    if (request.query.contains("uploads") || request.query.contains("uploadId")) {
        return answer_upload(request);
    }
    if (request.query.contains("list-type")) {
        return listing(request);
    }
    const std::string path = decoded(request.path);
    if (request.method == "PUT") {
        objects_[path] = request.body;
        return {200, "", {{"ETag", etag_of(request.body)}}};
    }
    const auto found = objects_.find(path);
    if (found == objects_.end()) {
        return fault_of(404, "NoSuchKey");
    }
    if (request.method == "DELETE") {
        objects_.erase(found);
        return {204};
    }
    return ranged(request, found->second);
}

WireReply StoreServer::listing(const WireRequest& request) const {
    const auto said = [&](const char* name) {
        const auto found = request.query.find(name);
        return found == request.query.end() ? std::string() : decoded(found->second);
    };
    const std::string bucket = request.path + "/";
    const std::string prefix = bucket + said("prefix");
    const std::string after = said("continuation-token");
    std::string body = "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    std::string last;
    std::size_t count = 0;
    for (const auto& [path, content] : objects_) {
        if (!path.starts_with(prefix) || path <= after) {
            continue;
        }
        if (count++ == page_) {
            body += "<NextContinuationToken>" + last + "</NextContinuationToken>";
            break;
        }
        last = path;
        body += "<Contents><Key>" + path.substr(bucket.size()) + "</Key><Size>" +
                std::to_string(content.size()) + "</Size><ETag>" + etag_of(content) +
                "</ETag><Owner><ID>x</ID></Owner></Contents>";
    }
    body += std::string("<IsTruncated>") + (count > page_ ? "true" : "false") +
            "</IsTruncated></ListBucketResult>";
    return {200, body};
}

} // namespace weft::test
