// The tree of each alignment in a folder, with the support of 100 bootstrap replicates:
//
//   nextflow run packaging/nextflow/example.nf --alignments 'alignments/*.phy'
//
// Not tested, see main.nf. A task that was killed begins anew, because Nextflow gives each attempt a folder of its own.

include { MLSEARCH } from './main.nf'

params.alignments = 'alignments/*.phy'

workflow {
    MLSEARCH(Channel.fromPath(params.alignments).map { file -> [[id: file.baseName], file, []] })
    MLSEARCH.out.tree.view()
}
