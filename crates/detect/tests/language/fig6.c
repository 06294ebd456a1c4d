// Figure 6: null pointers, constant strings and copies of both.
struct node { struct node *next; int value; };

int follow_bad(int wanted) {
  struct node *node = 0, *other;
  other = node;
  return other->value + wanted; //~ fault[fig6-null-dereference]
}

char index_bad(int late) {
  const char *text = 0;
  if (late)
    text = "late";
  return text[1];               //~ fault[fig6-null-dereference]
}

char text_ok(void) {
  const char *text = "text", *other;
  other = text;
  return *other;                //~ ok[fig6-null-dereference]
}
