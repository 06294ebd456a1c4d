#include <stdio.h>
#include <string.h>

struct token {
    int kind; /* 0: number, 1: text */
    union {
        long number;
        char *text;
    } as;
};

static void set_number(struct token *token, long number)
{
    token->as.number = number; //~ first
}

int main(void)
{
    struct token tokens[3];
    char word[] = "word";
    for (int i = 0; i < 3; i++) {
        tokens[i].kind = 1;
        tokens[i].as.text = word;
    }
    set_number(&tokens[1], 77);
    size_t length = 0;
    for (int i = 0; i < 3; i++)
        if (tokens[i].kind == 1)
            length += tokens[i].as.text[0];
    printf("%zu\n", length);
    return 0;
}
