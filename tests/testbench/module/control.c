// SPDX-License-Identifier: GPL-2.0-or-later
/* Files for programs that use the scripted PMU: /proc/scripted_pmu/script takes scripts,
 * .../step takes single accesses. .../journal lists the samples, .../imc the values read
 * from the memory controller. Every user may use them: they are part of the machine, not
 * of the system. */
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "scripted_pmu.h"

enum { SCRIPT_BYTES_MAX = 16384 };

static struct proc_dir_entry *directory;

static ssize_t script_write(struct file *file, const char __user *bytes, size_t size,
                            loff_t *position)
{
        char *text;
        int error;

        if (size > SCRIPT_BYTES_MAX)
                return -E2BIG;
        text = memdup_user_nul(bytes, size);
        if (IS_ERR(text))
                return PTR_ERR(text);
        error = script_add(text);
        kfree(text);
        return error ? error : size;
}

static int step_open(struct inode *inode, struct file *file)
{
        file->private_data = kzalloc(sizeof(struct stepper), GFP_KERNEL);
        return file->private_data ? 0 : -ENOMEM;
}

static int step_release(struct inode *inode, struct file *file)
{
        kfree(file->private_data);
        return 0;
}

static ssize_t step_write(struct file *file, const char __user *bytes, size_t size,
                          loff_t *position)
{
        struct published_access access;
        int error;

        if (size != sizeof(access))
                return -EINVAL;
        if (copy_from_user(&access, bytes, sizeof(access)))
                return -EFAULT;
        error = events_step(file->private_data, &access);
        return error ? error : size;
}

/* Forgets all scripts and their effects, before the next scenario. */
static ssize_t forget_write(struct file *file, const char __user *bytes, size_t size,
                            loff_t *position)
{
        scripts_forget();
        journal_clear();
        imc_forget();
        return size;
}

static const struct proc_ops script_proc_ops = {.proc_write = script_write};
static const struct proc_ops step_proc_ops = {
    .proc_open = step_open,
    .proc_write = step_write,
    .proc_release = step_release,
};
static const struct proc_ops forget_proc_ops = {.proc_write = forget_write};

int control_open(void)
{
        directory = proc_mkdir("scripted_pmu", NULL);
        if (!directory)
                return -ENOMEM;
        if (proc_create("script", 0222, directory, &script_proc_ops) &&
            proc_create("step", 0222, directory, &step_proc_ops) &&
            proc_create("forget", 0222, directory, &forget_proc_ops) &&
            proc_create("journal", 0444, directory, &journal_proc_ops) &&
            proc_create("imc", 0444, directory, &imc_reads_proc_ops))
                return 0;
        control_close();
        return -ENOMEM;
}

void control_close(void)
{
        remove_proc_subtree("scripted_pmu", NULL);
}
