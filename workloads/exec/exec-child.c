/* The small static binary that exec starts again and again. */
int main(void)
{
	return 0;
}
