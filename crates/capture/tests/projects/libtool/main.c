int sample(void);
int main(void) { return sample(); }
