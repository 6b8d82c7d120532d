/* Instructions that a RISC-V core of QEMU has run. */
unsigned long lpsm_count(void);
unsigned long lpsm_count(void)
{
    unsigned long count;
    __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, minstret\n.option pop" : "=r"(count));
    return count;
}
