generated_kernel_count = 1
