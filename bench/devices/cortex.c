/* What a Cortex-M33 of QEMU (mps2-an505) needs to run a program, and its clock: SysTick at 20 MHz, which with
   -icount shift=0 is a tick every 50 instructions. */
#include <stdint.h>

extern uint32_t stack_top, data_load, data_begin, data_end, bss_begin, bss_end;
extern void initialise_monitor_handles(void);
extern int main(void);
extern void exit(int);
unsigned long lpsm_count(void);
void reset(void);

#define REGISTER(address) (*(volatile uint32_t *)(address))

unsigned long lpsm_count(void)
{
    return (unsigned long)(0xFFFFFFu - REGISTER(0xE000E018)) * 50u;
}

void reset(void)
{
    REGISTER(0xE000ED88) |= 0xFu << 20; /* the floating-point unit */
    for (uint32_t *from = &data_load, *to = &data_begin; to < &data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &bss_begin; to < &bss_end;) {
        *to++ = 0;
    }
    REGISTER(0xE000E014) = 0xFFFFFFu;
    REGISTER(0xE000E018) = 0;
    REGISTER(0xE000E010) = 5;
    initialise_monitor_handles();
    exit(main());
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {&stack_top, (void *)reset};
