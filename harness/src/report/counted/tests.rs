use super::*;

#[test]
fn bars_have_one_scale_and_say_their_numbers() {
    // 8,400 of 12,000: a bar of 210 of 300 pixels, 7,000 of it the kernel's.
    let base = bar("base", [7_000.0, 1_400.0], 12_000.0, "insn/op");
    assert_eq!((base.kernel, base.user), (175.0, 35.0));
    assert_eq!(
        base.said,
        "83.3\u{a0}% kernel: 7,000\u{a0}insn/op of 8,400\u{a0}insn/op"
    );
    let idle = bar("base", [0.0, 0.0], 12_000.0, "ns/op");
    assert_eq!((idle.kernel, idle.user), (0.0, 0.0));
    assert!(
        idle.said.starts_with("0.0\u{a0}% kernel: 0"),
        "{}",
        idle.said
    );
}
