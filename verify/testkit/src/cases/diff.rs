//! Two texts side by side, line by line.

/// Lines that both have start with a blank, lines missing with `-`, lines too many with `+`.
pub(super) fn lines(expected: &str, happened: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (expected.lines().collect(), happened.lines().collect());
    let common = common_lengths(&old, &new);
    let (mut i, mut j) = (0, 0);
    let mut out = String::new();
    while i < old.len() || j < new.len() {
        let (sign, line) = if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
            (' ', old[i - 1])
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            i += 1;
            ('-', old[i - 1])
        } else {
            j += 1;
            ('+', new[j - 1])
        };
        out.push(sign);
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// For each pair of places, how many lines the rests have in common.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut common = vec![vec![0; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    common
}
