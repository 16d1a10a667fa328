// The host's HTTP face, for scripts: each request is one of the wire's, by another name.
// doc/format/wire.md has the table, doc/format/openapi.json the whole.
#pragma once

#include <memory>

#include "rpc/server.h"

namespace stet::host {

class Host;

/// Answers now or later. The host outlives the request's handling.
void AnswerHttp(Host& host, rpc::HttpRequest request, std::unique_ptr<rpc::HttpReply> reply);

}  // namespace stet::host
