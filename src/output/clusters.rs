//! [`Clusters`]: similar things beside each other, and no more rows than a map has room for. What is nearest is joined by average
//! linkage (UPGMA; Sokal & Michener 1958), and the order is that of the leaves of its tree.

use std::collections::BTreeMap;

/// Most features that are compared: where there are more, some are left out, at equal distances.
const MOST_COMPARED: usize = 400_000_000;

/// Dissimilarities of all pairs between two clusters, as far as they are known, or within one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Link {
    sum: f64,
    count: u64,
}

impl Link {
    /// With another pair; infinite and missing dissimilarities are unknown.
    fn with(self, dissimilarity: f64) -> Self {
        match dissimilarity.is_finite() {
            true => Link { sum: self.sum + dissimilarity, count: self.count + 1 },
            false => self,
        }
    }

    fn and(self, other: Link) -> Self {
        Link { sum: self.sum + other.sum, count: self.count + other.count }
    }

    /// The mean; infinite if nothing is known.
    fn mean(self) -> f64 {
        if self.count > 0 { self.sum / self.count as f64 } else { f64::INFINITY }
    }
}

/// Clusters of things that come one after the other. Where there would be more than a map has room for, the two nearest are joined.
#[derive(Debug, Clone)]
pub(crate) struct Clusters {
    most: usize,
    /// Numbers of the things in each.
    members: Vec<Vec<usize>>,
    /// `[cluster][cluster]`: dissimilarities between them and, at its own place, within a cluster.
    links: Vec<Vec<Link>>,
    /// `[cluster]`: the distance of the nearest other one, and which it is; itself as long as it is alone.
    nearest: Vec<(f64, usize)>,
    /// `[thing]`: its cluster.
    cluster_of: Vec<usize>,
}

impl Clusters {
    /// None so far, and never more than `most`.
    pub(crate) fn new(most: usize) -> Self {
        Clusters {
            most,
            members: Vec::new(),
            links: Vec::new(),
            nearest: Vec::new(),
            cluster_of: Vec::new(),
        }
    }

    /// Number of things.
    fn num_things(&self) -> usize {
        self.cluster_of.len()
    }

    /// The next thing, with its dissimilarities from all before it.
    pub(crate) fn push_row(&mut self, row: &[f64]) {
        let mut links = vec![Link::default(); self.members.len()];
        for (&cluster, &dissimilarity) in self.cluster_of.iter().zip(row) {
            links[cluster] = links[cluster].with(dissimilarity);
        }
        self.push(links);
    }

    /// The next thing, with its dissimilarities from all clusters.
    fn push(&mut self, mut links: Vec<Link>) {
        let new = self.members.len();
        for (row, link) in self.links.iter_mut().zip(&links) {
            row.push(*link);
        }
        links.push(Link::default());
        self.cluster_of.push(new);
        self.members.push(vec![self.num_things() - 1]);
        self.links.push(links);
        self.nearest.push(self.nearest_to(new));
        for other in 0..new {
            let distance = self.distance(other, new);
            if self.nearest[other].1 == other || distance < self.nearest[other].0 {
                self.nearest[other] = (distance, new);
            }
        }
        if self.members.len() > self.most {
            let (a, b) = self.closest();
            self.join(a, b);
        }
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        self.links[a][b].mean()
    }

    /// The nearest other cluster, the first of several.
    fn nearest_to(&self, cluster: usize) -> (f64, usize) {
        let others = (0..self.members.len()).filter(|&other| other != cluster);
        let found = others.map(|other| (self.distance(cluster, other), other));
        found.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, cluster))
    }

    /// The nearest two, the first of several.
    fn closest(&self) -> (usize, usize) {
        let numbered = self.nearest.iter().enumerate();
        let found = numbered.min_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let (first, &(_, second)) = found.expect("there are clusters");
        (first.min(second), first.max(second))
    }

    /// The things of `b` follow those of `a`, which is before it; the last cluster takes the place `b`.
    fn join(&mut self, a: usize, b: usize) {
        let of_b = self.links.swap_remove(b);
        let within = self.links[a][a].and(of_b[b]).and(of_b[a]);
        for (link, other) in self.links[a].iter_mut().zip(&of_b) {
            *link = link.and(*other);
        }
        self.links[a].swap_remove(b);
        self.links[a][a] = within;
        let last = self.links.len();
        for place in (0..last).filter(|&place| place != a) {
            self.links[place].swap_remove(b);
            self.links[place][a] = self.links[a][place];
        }
        let things = self.members.swap_remove(b);
        self.members[a].extend(things);
        for place in [a, b].into_iter().filter(|&place| place < last) {
            for &thing in &self.members[place] {
                self.cluster_of[thing] = place;
            }
        }
        self.nearest.swap_remove(b);
        for place in 0..last {
            // With average linkage, the union is not nearer to a third one than the nearest of its parts was.
            match self.nearest[place] {
                (before, to) if place != a && (to == a || to == b) => {
                    let distance = self.distance(place, a);
                    let stays = distance <= before;
                    self.nearest[place] =
                        if stays { (distance, a) } else { self.nearest_to(place) };
                }
                (before, to) if place != a && to == last => self.nearest[place] = (before, b),
                _ if place == a => self.nearest[place] = self.nearest_to(place),
                _ => {}
            }
        }
    }

    /// The clusters in an order in which similar ones are beside each other, and their mean dissimilarities. `rank` orders things
    /// so that the result does not depend on the order in which they came, as long as each is alone.
    pub(crate) fn ordered<K: Ord>(&self, rank: impl Fn(usize) -> K) -> Ordered {
        let mut clusters: Vec<(Vec<usize>, usize)> =
            self.members.iter().cloned().zip(0..self.members.len()).collect();
        for (things, _) in &mut clusters {
            things.sort_by_cached_key(|&thing| rank(thing));
        }
        clusters.sort_by_cached_key(|(things, _)| rank(things[0]));
        let mut tree = Clusters::new(clusters.len());
        for (number, (_, at)) in clusters.iter().enumerate() {
            tree.push(clusters[..number].iter().map(|other| self.links[*at][other.1]).collect());
        }
        let distance = |a: usize, b: usize| self.distance(clusters[a].1, clusters[b].1);
        while tree.members.len() > 1 {
            let (a, b) = tree.closest();
            tree.turn(a, b, distance);
            tree.join(a, b);
        }
        let order = tree.members.pop().unwrap_or_default();
        let places: Vec<usize> = order.iter().map(|&number| clusters[number].1).collect();
        let means = |&a: &usize| {
            let mean = |&b: &usize| match a == b && self.members[a].len() == 1 {
                true => 0.0,
                false => self.distance(a, b),
            };
            places.iter().map(mean).collect()
        };
        let means = places.iter().map(means).collect();
        Ordered { clusters: order.iter().map(|&at| clusters[at].0.clone()).collect(), means }
    }

    /// Turns both, so that the ends which will meet are as near as possible.
    fn turn(&mut self, a: usize, b: usize, distance: impl Fn(usize, usize) -> f64) {
        let ends = |of: &[usize]| [of[0], of[of.len() - 1]];
        let (of_a, of_b) = (ends(&self.members[a]), ends(&self.members[b]));
        // Which of the ends meet: as they are first, so that nothing is turned for nothing.
        let meet = [(1, 0), (1, 1), (0, 0), (0, 1)];
        let gap = |&(x, y): &(usize, usize)| distance(of_a[x], of_b[y]);
        let best = meet.into_iter().min_by(|x, y| gap(x).total_cmp(&gap(y)));
        let (end, start) = best.unwrap_or((1, 0));
        if end == 0 {
            self.members[a].reverse();
        }
        if start == 1 {
            self.members[b].reverse();
        }
    }
}

/// Clusters in their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ordered {
    /// Numbers of the things in each.
    pub clusters: Vec<Vec<usize>>,
    /// `[cluster][cluster]`: mean dissimilarity, infinite where it is not known.
    pub means: Vec<Vec<f64>>,
}

/// Things with these features (each from 0 to 255), at most so many clusters of them, similar ones beside each other. Where things
/// must share a cluster, those with the same features do first, and others by the features of the first of each cluster.
pub(crate) fn cluster_features(features: &[Vec<u8>], most: usize) -> Vec<Vec<usize>> {
    let mut alike: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (thing, of) in features.iter().enumerate() {
        alike.entry(of).or_default().push(thing);
    }
    let mut groups: Vec<Vec<usize>> = alike.into_values().collect();
    groups.sort_unstable();
    let all = groups.len() * most.min(groups.len()) * features.first().map_or(0, Vec::len);
    let step = all / MOST_COMPARED + 1;
    let compared = |group: &Vec<usize>| -> Vec<u8> {
        features[group[0]].iter().step_by(step).copied().collect()
    };
    let compared: Vec<Vec<u8>> = groups.iter().map(compared).collect();
    let mut clusters = Clusters::new(most);
    for own in &compared {
        let link = |cluster: &Vec<usize>| {
            let pairs = cluster.iter().map(|&other| groups[other].len()).sum::<usize>() as u64;
            Link { sum: (difference(own, &compared[cluster[0]]) * pairs) as f64, count: pairs }
        };
        clusters.push(clusters.members.iter().map(link).collect());
    }
    let ordered = clusters.ordered(|group| group).clusters;
    let things = |of: Vec<usize>| of.into_iter().flat_map(|group| groups[group].iter().copied());
    match features.len() <= most {
        true => ordered.into_iter().flat_map(things).map(|thing| vec![thing]).collect(),
        false => ordered.into_iter().map(|of| things(of).collect()).collect(),
    }
}

/// Sum of the differences of all features.
fn difference(a: &[u8], b: &[u8]) -> u64 {
    // In pieces whose sums have room in fewer bits, which processors add up several at a time.
    let of_piece = |(a, b): (&[u8], &[u8])| {
        u64::from(a.iter().zip(b).map(|(x, y)| u32::from(x.abs_diff(*y))).sum::<u32>())
    };
    a.chunks(1 << 16).zip(b.chunks(1 << 16)).map(of_piece).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clusters of points on a line.
    fn on_a_line(points: &[f64], most: usize) -> Ordered {
        let mut clusters = Clusters::new(most);
        for (number, point) in points.iter().enumerate() {
            let row: Vec<f64> =
                points[..number].iter().map(|other| (point - other).abs()).collect();
            clusters.push_row(&row);
        }
        clusters.ordered(|thing| thing)
    }

    #[test]
    fn what_is_near_is_together() {
        let points = [5.0, 1.0, 9.0, 1.1, 5.2, 9.4, 1.3];
        let ordered = on_a_line(&points, 10);
        let found: Vec<f64> = ordered.clusters.iter().map(|of| points[of[0]]).collect();
        assert!(found.is_sorted() || found.iter().rev().is_sorted(), "{found:?}");
        assert_eq!(ordered.means[0][0], 0.0);
        let (first, last) = (found[0], found[6]);
        assert!((ordered.means[0][6] - (first - last).abs()).abs() < 1e-12);
    }

    #[test]
    fn the_nearest_share_a_row_where_there_are_too_many() {
        let points = [5.0, 1.0, 9.0, 1.1, 5.2, 9.4, 1.3];
        let Ordered { mut clusters, means } = on_a_line(&points, 3);
        assert_eq!(clusters[1], [0, 4]);
        assert!((means[1][1] - 0.2).abs() < 1e-12);
        assert!((means[0][1] - 3.9).abs() < 0.4 || (means[0][1] - 4.1).abs() < 0.4, "{means:?}");
        clusters.sort();
        assert_eq!(clusters, [vec![0, 4], vec![1, 3, 6], vec![2, 5]]);
    }

    #[test]
    fn many_things_in_any_order_are_in_clusters_of_their_own_kind() {
        // Twenty kinds, a hundred of each, mixed.
        let kind = |thing: usize| (thing * 7) % 20;
        let points: Vec<f64> =
            (0..2000).map(|thing| (kind(thing) * 100) as f64 + (thing % 13) as f64).collect();
        let ordered = on_a_line(&points, 20);
        assert_eq!(ordered.clusters.len(), 20);
        for of in &ordered.clusters {
            assert!(
                of.len() == 100 && of.iter().all(|&thing| kind(thing) == kind(of[0])),
                "{of:?}"
            );
        }
        let kinds: Vec<usize> = ordered.clusters.iter().map(|of| kind(of[0])).collect();
        assert!(kinds.is_sorted() || kinds.iter().rev().is_sorted(), "{kinds:?}");
    }

    #[test]
    fn the_order_in_which_things_come_does_not_matter() {
        let points = [5.0, 1.0, 9.0, 1.1, 5.2, 9.4, 1.3, 5.1];
        let turned: Vec<f64> = points.iter().rev().copied().collect();
        let mut clusters = Clusters::new(8);
        for (number, point) in turned.iter().enumerate() {
            let row: Vec<f64> =
                turned[..number].iter().map(|other| (point - other).abs()).collect();
            clusters.push_row(&row);
        }
        let other = clusters.ordered(|thing| 7 - thing);
        let same: Vec<Vec<usize>> =
            other.clusters.iter().map(|of| of.iter().map(|thing| 7 - thing).collect()).collect();
        assert_eq!(on_a_line(&points, 8).clusters, same);
    }

    #[test]
    fn unknown_dissimilarities_are_the_largest() {
        let mut clusters = Clusters::new(2);
        for row in [&[][..], &[f64::NAN], &[1.0, f64::INFINITY]] {
            clusters.push_row(row);
        }
        let ordered = clusters.ordered(|thing| thing);
        assert_eq!(ordered.clusters, [vec![0, 2], vec![1]]);
        assert_eq!(ordered.means[0], [1.0, f64::INFINITY]);
        assert!(Clusters::new(3).ordered(|thing| thing).clusters.is_empty());
    }

    #[test]
    fn features_that_are_alike_are_together() {
        let features = [vec![0, 255], vec![255, 0], vec![0, 255], vec![250, 0], vec![0, 0]];
        assert_eq!(
            cluster_features(&features, 5).concat().len(),
            5,
            "each has a row of its own where there is room"
        );
        let rows = cluster_features(&features, 3);
        assert_eq!(rows.len(), 3);
        assert!(rows.contains(&vec![0, 2]) && rows.contains(&vec![1, 3]), "{rows:?}");
        assert_eq!(rows[1], [4]);
    }
}
