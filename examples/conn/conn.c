/* Four callers of conn_open, three of which know that it can fail. */
struct conn {
  int fd;
  int kind;
};
struct conn *conn_open(const char *name);
void conn_close(struct conn *c);

int conn_ping(const char *name) {
  struct conn *c = conn_open(name);
  if (!c)
    return -1;
  int fd = c->fd;
  conn_close(c);
  return fd;
}

int conn_kind(const char *name) {
  struct conn *c = conn_open(name);
  if (c == 0)
    return -1;
  int kind = c->kind;
  conn_close(c);
  return kind;
}

int conn_is_plain(const char *name) {
  struct conn *c = conn_open(name);
  if (!c)
    return 0;
  int plain = c->kind == 0;
  conn_close(c);
  return plain;
}

int conn_number(const char *name) {
  struct conn *c = conn_open(name);
  int fd = c->fd;
  conn_close(c);
  return fd;
}
