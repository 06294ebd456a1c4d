int unused(int);
int main(int argc, char **argv) { return unused(argc); }
