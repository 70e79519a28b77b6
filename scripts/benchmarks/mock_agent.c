/* A child that costs next to nothing, so that what is measured is its client: `mock_agent UPDATES`.
   Answers initialize, session/new and session/prompt; the last one after so many chunks, in writes of 64 KiB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 65536, LONGEST = 256, ID = 64 };

static const char *const TEXT = "the quick brown fox jumps over the lazy dog and runs away";

static char *updates;
static size_t updates_size;

static void put(const char *data, size_t size)
{
    while (size > 0) {
        size_t piece = size < PIECE ? size : PIECE;
        ssize_t written = write(1, data, piece);
        if (written <= 0)
            _exit(0);
        data += written;
        size -= (size_t)written;
    }
}

static void answer(const char *id, const char *result)
{
    char line[512];
    put(line, (size_t)snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result));
}

static void prepare(long count)
{
    updates = malloc((size_t)count * LONGEST + 1);
    if (updates == NULL)
        exit(1);
    for (long at = 0; at < count; at++)
        updates_size += (size_t)sprintf(
            updates + updates_size,
            "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"session-1\",\"update\":"
            "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"%.*s\"}}}}\n",
            (int)(12 + at % 40), TEXT);
}

static void copy_id(const char *line, char *id)
{
    const char *at = strstr(line, "\"id\":");
    size_t size = 0;
    for (at = at ? at + 5 : "null"; *at && !strchr(",}\n", *at) && size < ID - 1; at++)
        if (*at != ' ')
            id[size++] = *at;
    id[size] = 0;
}

int main(int count, char **words)
{
    char *line = NULL, id[ID];
    size_t room = 0;
    prepare(count > 1 ? atol(words[1]) : 1);
    while (getline(&line, &room, stdin) > 0) {
        copy_id(line, id);
        if (strstr(line, "\"initialize\"")) {
            answer(id, "{\"protocolVersion\":1,\"agentCapabilities\":{},\"authMethods\":[]}");
        } else if (strstr(line, "\"session/new\"")) {
            answer(id, "{\"sessionId\":\"session-1\"}");
        } else if (strstr(line, "\"session/prompt\"")) {
            put(updates, updates_size);
            answer(id, "{\"stopReason\":\"end_turn\"}");
        }
    }
    return 0;
}
