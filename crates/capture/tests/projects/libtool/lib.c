int part(void);
int sample(void) { return part(); }
